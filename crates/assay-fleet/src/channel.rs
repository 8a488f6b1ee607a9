//! A sealed connection between two programs that hold the same key, for other purposes than a run: greeting, proofs and seal
//! are those of nodes and their coordinator.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use assay_engine::monotonic;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::join::connect;
use crate::key::{Greeting, NodeKey, Purpose, Seal, nonce};
use crate::transport::{Connection, Listener, Origin, Unauthenticated};
use crate::wire::{Receiver, Sender, WireError};

/// Version of the greeting.
const PROTOCOL: u32 = 1;
/// Time for connecting, and for each line of the greeting.
const GREETING: Duration = Duration::from_secs(10);

/// The three lines before the seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "snake_case")]
enum Line {
    /// The connecting side: its purpose and name.
    Hello { protocol: u32, purpose: String, name: String, nonce: String },
    /// The listening side proves that it has the key.
    Challenge { nonce: String, proof: String },
    /// The connecting side proves it, too.
    Proof { proof: String },
}

/// A sealed connection.
#[derive(Debug)]
pub struct Channel {
    sender: Sender,
    receiver: Receiver,
}

fn greeting<'a>(purpose: &'a str, name: &'a str, nonces: [&'a str; 2]) -> Greeting<'a> {
    Greeting { protocol: PROTOCOL, version: "", commit: "", run: purpose, node: name, nonces }
}

fn is_proof(proof: &str, known: blake3::Hash) -> bool {
    // Hashes compare in constant time.
    blake3::Hash::from_hex(proof).is_ok_and(|proof| proof == known)
}

impl Channel {
    /// Connects to `HOST:PORT`, for a purpose that both sides name alike.
    ///
    /// # Errors
    /// Where there is no answer, or the other side does not hold the key.
    pub fn connect(address: &str, purpose: &str, name: &str, key: &NodeKey) -> Result<Self, WireError> {
        let connection = connect(address, GREETING)?;
        let (mut sender, mut receiver) = (Sender::new(connection.again()?), Receiver::new(connection));
        let ours = nonce()?;
        let (purpose_said, name_said) = (purpose.to_owned(), name.to_owned());
        sender.send(&Line::Hello {
            protocol: PROTOCOL,
            purpose: purpose_said,
            name: name_said,
            nonce: ours.clone(),
        })?;
        let Line::Challenge { nonce: theirs, proof } = receiver.receive(GREETING)? else {
            return Err(WireError::Malformed("no challenge".to_owned()));
        };
        let greeting = greeting(purpose, name, [&ours, &theirs]);
        if !is_proof(&proof, key.says(Purpose::CoordinatorProof, &greeting)) {
            return Err(WireError::Seal);
        }
        sender.send(&Line::Proof { proof: key.says(Purpose::NodeProof, &greeting).to_hex().to_string() })?;
        sender.seal_by(Seal::new(key, Purpose::ToCoordinator, &greeting));
        receiver.seal_by(Seal::new(key, Purpose::ToNode, &greeting));
        Ok(Self { sender, receiver })
    }

    /// The other side of [`Self::connect`]: the connection, and the name under which it came.
    fn accept(connection: Box<dyn Connection>, purpose: &str, key: &NodeKey) -> Result<(Self, String), WireError> {
        connection.write_within(GREETING)?;
        let (mut sender, mut receiver) = (Sender::new(connection.again()?), Receiver::new(connection));
        let (name, theirs) = match receiver.receive(GREETING)? {
            Line::Hello { protocol: PROTOCOL, purpose: wanted, name, nonce } if wanted == purpose => (name, nonce),
            _ => return Err(WireError::Malformed("another greeting".to_owned())),
        };
        let ours = nonce()?;
        let greeting = greeting(purpose, &name, [&theirs, &ours]);
        let proof = key.says(Purpose::CoordinatorProof, &greeting).to_hex().to_string();
        sender.send(&Line::Challenge { nonce: ours.clone(), proof })?;
        match receiver.receive(GREETING)? {
            Line::Proof { proof } if is_proof(&proof, key.says(Purpose::NodeProof, &greeting)) => {}
            _ => return Err(WireError::Seal),
        }
        sender.seal_by(Seal::new(key, Purpose::ToNode, &greeting));
        receiver.seal_by(Seal::new(key, Purpose::ToCoordinator, &greeting));
        Ok((Self { sender, receiver }, name))
    }

    /// Sends a message.
    ///
    /// # Errors
    /// Where it is too long, or the connection is lost.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), WireError> {
        self.sender.send(message)
    }

    /// Sends bytes that a message announced.
    ///
    /// # Errors
    /// Where the connection is lost.
    pub fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        self.sender.send_bytes(bytes)
    }

    /// The next message.
    ///
    /// # Errors
    /// Where none comes within `limit`, or it is not from the holder of the key.
    pub fn receive<T: DeserializeOwned>(&mut self, limit: Duration) -> Result<T, WireError> {
        self.receiver.receive(limit)
    }

    /// The bytes that a message announced.
    ///
    /// # Errors
    /// As [`Self::receive`].
    pub fn receive_bytes(&mut self, count: u64, limit: Duration) -> Result<Vec<u8>, WireError> {
        self.receiver.receive_bytes(count, limit)
    }
}

/// Waits for connections of holders of the key.
#[derive(Debug)]
pub struct ChannelListener {
    listener: TcpListener,
    key: NodeKey,
    purpose: &'static str,
}

impl ChannelListener {
    /// Listens at an address.
    ///
    /// # Errors
    /// Where the system does not give it.
    pub fn bind(address: SocketAddr, purpose: &'static str, key: NodeKey) -> std::io::Result<Self> {
        Ok(Self { listener: TcpListener::bind(address)?, key, purpose })
    }

    /// Its address.
    ///
    /// # Errors
    /// The system's.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves connections until the process ends, each by a thread of its own. Those that have not shown the key are
    /// limited in number, as those of a run are.
    ///
    /// # Errors
    /// Where the system accepts none any more.
    pub fn serve(self, serve: impl Fn(Channel, &str) + Send + Sync + 'static) -> std::io::Result<()> {
        let (waiting, serve) = (Arc::new(Unauthenticated::default()), Arc::new(serve));
        let key = Arc::new(self.key);
        loop {
            let (connection, from): (Box<dyn Connection>, Origin) = match Listener::accept(&self.listener) {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            waiting.tidy(monotonic());
            let Ok(again) = connection.again() else { continue };
            let number = waiting.enter(from, again, monotonic());
            let (waiting, serve, key, purpose) =
                (Arc::clone(&waiting), Arc::clone(&serve), Arc::clone(&key), self.purpose);
            let work = move || {
                let accepted = Channel::accept(connection, purpose, &key);
                let stays = waiting.leave(number);
                if let Ok((channel, name)) = accepted
                    && stays
                {
                    serve(channel, &name);
                }
            };
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new().name("channel".to_owned()).spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::RunKey;

    const SOON: Duration = Duration::from_secs(10);

    /// A listener that sends back what it gets.
    fn echo(key: &NodeKey) -> String {
        let listener = ChannelListener::bind(([127, 0, 0, 1], 0).into(), "echo", key.clone()).unwrap();
        let address = listener.address().unwrap().to_string();
        std::thread::spawn(move || {
            listener.serve(|mut channel, name| {
                while let Ok(text) = channel.receive::<String>(SOON) {
                    let sent = channel.send(&format!("{name}: {text}"));
                    assert!(sent.is_ok());
                }
            })
        });
        address
    }

    #[test]
    fn holders_of_the_key_talk_and_others_do_not() {
        let key = RunKey::new().unwrap().of_node("a");
        let address = echo(&key);
        let mut channel = Channel::connect(&address, "echo", "n", &key).unwrap();
        channel.send(&"hello").unwrap();
        assert_eq!(channel.receive::<String>(SOON).unwrap(), "n: hello");
        let other = RunKey::new().unwrap().of_node("a");
        assert!(matches!(Channel::connect(&address, "echo", "n", &other), Err(WireError::Seal)));
        assert!(Channel::connect(&address, "another", "n", &key).is_err());
        channel.send(&"again").unwrap();
        assert_eq!(channel.receive::<String>(SOON).unwrap(), "n: again");
    }
}
