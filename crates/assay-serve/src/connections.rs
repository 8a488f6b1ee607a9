//! Limits of connections: how many there are, which one is closed for a new one, and how long a client may stop reading.
//!
//! A connection waits until a request of a user who is logged in is whole. Where all places are taken, the one that waits longest
//! gives way. Idle connections therefore never keep a user out.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep};

/// The places for connections of a server.
pub struct Places {
    most: usize,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    /// Counts up whenever a connection begins, or begins to wait.
    turn: u64,
    taken: BTreeMap<u64, Entry>,
}

struct Entry {
    /// The turn in which it began to wait; none while it is answered.
    waits: Option<u64>,
    gives_way: Arc<Notify>,
}

impl Places {
    /// Places for at most `most` connections at once.
    #[must_use]
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, table: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request is being answered.
    #[must_use]
    pub fn any_answered(&self) -> bool {
        self.table().taken.values().any(|entry| entry.waits.is_none())
    }

    /// Connections that are open.
    #[must_use]
    pub fn open(&self) -> usize {
        self.table().taken.len()
    }

    /// A place for a new connection, if need be that of the one that waits longest; none where all are answered.
    pub fn take(self: &Arc<Self>) -> Option<Arc<Place>> {
        let mut table = self.table();
        if table.taken.len() >= self.most {
            let waits = table.taken.iter().filter_map(|(id, entry)| Some((entry.waits?, *id)));
            let (_, longest) = waits.min()?;
            if let Some(entry) = table.taken.remove(&longest) {
                entry.gives_way.notify_one();
            }
        }
        table.turn += 1;
        let (id, gives_way) = (table.turn, Arc::new(Notify::new()));
        table.taken.insert(id, Entry { waits: Some(id), gives_way: Arc::clone(&gives_way) });
        Some(Arc::new(Place { id, gives_way, places: Arc::clone(self) }))
    }
}

/// The place of a connection, until it is dropped.
pub struct Place {
    id: u64,
    gives_way: Arc<Notify>,
    places: Arc<Places>,
}

impl Place {
    /// Returns when another connection has its place.
    pub(crate) async fn is_given_away(&self) {
        self.gives_way.notified().await;
    }

    /// From now on it is answered, and keeps its place until the answer has been taken.
    #[must_use]
    pub fn answers(self: &Arc<Self>) -> Answering {
        if let Some(entry) = self.places.table().taken.get_mut(&self.id) {
            entry.waits = None;
        }
        Answering(Arc::clone(self))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.table().taken.remove(&self.id);
    }
}

/// A request that is answered; after it its connection waits again.
pub struct Answering(Arc<Place>);

impl Answering {
    /// The response, which is a part of it.
    #[must_use]
    pub fn with(self, response: Response) -> Response {
        response.map(|body| Body::new(Held { body, _answering: self }))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let mut table = self.0.places.table();
        table.turn += 1;
        let turn = table.turn;
        if let Some(entry) = table.taken.get_mut(&self.0.id) {
            entry.waits = Some(turn);
        }
    }
}

/// The body of a response, with what has to last as long.
struct Held {
    body: Body,
    _answering: Answering,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream whose other end has to take what is written within a time.
pub(crate) struct Timed<S> {
    stream: S,
    limit: Duration,
    /// Since nothing more is taken.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S> Timed<S> {
    pub(crate) fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waits: None }
    }

    /// What an attempt to write came to, or that it takes too long.
    fn within<T>(&mut self, context: &mut Context<'_>, attempt: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if attempt.is_ready() {
            self.waits = None;
            return attempt;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(limit)));
        waits.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.within(context, attempt)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.within(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_flush(context);
        self.within(context, attempt)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let attempt = Pin::new(&mut self.stream).poll_shutdown(context);
        self.within(context, attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_longest_gives_way_and_who_is_answered_does_not() {
        let places = Places::new(3);
        let all: Vec<_> = (0..3).map(|_| places.take().unwrap()).collect();
        let answering = all[0].answers();
        let told = |place: &Arc<Place>| {
            let waker = std::task::Waker::noop();
            std::pin::pin!(place.is_given_away()).poll(&mut Context::from_waker(waker)).is_ready()
        };
        let fourth = places.take().unwrap();
        assert!(told(&all[1]) && !told(&all[0]) && !told(&all[2]), "the first is answered, the second waits longest");
        drop(answering);
        let _fifth = places.take().unwrap();
        assert!(told(&all[2]), "the first waits since later");
        let kept: Vec<_> = [&all[0], &fourth, &_fifth].map(|place| place.answers()).into();
        assert!(places.take().is_none(), "all are answered");
        drop(kept);
        drop(all);
        assert_eq!(places.table().taken.len(), 2, "who is gone keeps no place");
    }

    /// Takes nothing.
    struct Stuck;

    impl AsyncWrite for Stuck {
        fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
            Poll::Pending
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }
    }

    #[test]
    fn who_does_not_read_is_left() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mut stuck = Timed::new(Stuck, Duration::from_millis(20));
        let written = std::future::poll_fn(|context| Pin::new(&mut stuck).poll_write(context, b"page"));
        assert_eq!(runtime.block_on(written).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
