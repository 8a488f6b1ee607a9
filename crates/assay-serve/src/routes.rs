//! Paths and what answers them.

use std::sync::Arc;

use assay_core::text::harmless;
use axum::Router;
use axum::body::Body;
use axum::extract::rejection::{FormRejection, QueryRejection};
use axum::extract::{Form as PostedForm, Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use maud::html;

use crate::app::App;
use crate::form::{Form, Pairs, value};
use crate::page::{self, Page, Tab};
use crate::program::Refusal;
use crate::{app, browse, fleets, live, measure, plans, questions, watch};

type Shared = State<Arc<App>>;
type Asked = Result<Query<Pairs>, QueryRejection>;
type Posted = Result<PostedForm<Pairs>, FormRejection>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/", get(media))
        .route("/login", get(login_form).post(login))
        .route("/assets/{name}", get(asset))
        .route("/records", get(records))
        .route("/records/{id}", get(record))
        .route("/records/{id}/as/{ending}", get(download))
        .route("/advise", get(advise))
        .route("/plan", get(all_plans))
        .route("/fleet", get(all_fleets))
        .route("/fleet/{run}", get(fleet))
        .route("/fleet/{run}/part", get(fleet_part))
        .route("/fleet/{run}/picture", get(fleet_picture))
        .route("/watch", get(all_watched))
        .route("/watch/{name}", get(watched))
        .route("/watch/{name}/picture", get(watched_picture))
        .route("/plan/new", get(new_plan).post(keep_plan))
        .route("/plan/of/{label}", get(kept_plan))
        .route("/plan/of/{label}/file", get(plan_file))
        .route("/baselines", get(baselines))
        .route("/baselines/set", post(set_baseline))
        .route("/baselines/remove", post(remove_baseline))
        .route("/measure", get(choose))
        .route("/measure/plan", get(plan))
        .route("/measure/start", post(start))
        .route("/runs/{id}", get(job))
        .route("/runs/{id}/events", get(events))
        .route("/runs/{id}/stop", post(stop));
    for (_, form) in questions::ALL {
        router = router.route(form.path, get(question)).route(&format!("{}/picture", form.path), get(question_picture));
    }
    router
        .fallback(|| async { page::missing() })
        .layer(from_fn_with_state(Arc::clone(&app), app::guard))
        .with_state(app)
}

/// The fields of an address.
fn fields(asked: Asked) -> Result<Pairs, Refusal> {
    asked.map(|Query(pairs)| pairs).map_err(|error| Refusal { message: harmless(&error.body_text()), is_usage: true })
}

/// Works on a thread on which waiting is allowed; one that fails without a word is said to have failed.
async fn on_a_thread(
    app: &Arc<App>,
    tab: Tab,
    work: impl FnOnce(&Arc<App>) -> Result<Response, Refusal> + Send + 'static,
) -> Response {
    // More at once would only take more memory: each reads the store.
    let Ok(turn) = Arc::clone(&app.turns).acquire_owned().await else { return page::missing() };
    let shared = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work(&shared)
    });
    match done.await {
        Ok(Ok(response)) => response,
        Ok(Err(refusal)) => page::refused(tab, &refusal),
        Err(_) => {
            let message = "this page could not be made; the message of assay serve says where it failed".to_owned();
            page::refused(tab, &Refusal { message, is_usage: false })
        }
    }
}

/// A page made of the fields of its address.
async fn of_fields(
    app: Arc<App>,
    tab: Tab,
    asked: Asked,
    work: impl FnOnce(&Arc<App>, &Pairs) -> Result<Response, Refusal> + Send + 'static,
) -> Response {
    match fields(asked) {
        Ok(pairs) => on_a_thread(&app, tab, move |app| work(app, &pairs)).await,
        Err(refusal) => page::refused(tab, &refusal),
    }
}

/// Does what a form of this server asks for.
async fn of_form(
    app: Arc<App>,
    tab: Tab,
    posted: Posted,
    work: impl FnOnce(&Arc<App>, &Pairs) -> Result<Response, Refusal> + Send + 'static,
) -> Response {
    match posted {
        Ok(PostedForm(pairs)) if app.access.is_own_form(&pairs) => {
            on_a_thread(&app, tab, move |app| work(app, &pairs)).await
        }
        Ok(_) => {
            let message = "this form is not of this server, or of one that has ended; open the page again".to_owned();
            page::refused(tab, &Refusal { message, is_usage: true })
        }
        Err(error) => page::refused(tab, &Refusal { message: harmless(&error.body_text()), is_usage: true }),
    }
}

async fn asset(Path(name): Path<String>) -> Response {
    let Some((kind, text)) = page::asset(&name) else { return page::missing() };
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "private, max-age=300")];
    (headers, Body::from(text)).into_response()
}

fn login_page(status: StatusCode, words: &str) -> Response {
    let body = html! {
        h1 { "Log in" }
        @if !words.is_empty() { p.refusal role="alert" { (words) } }
        form.question method="post" action="/login" {
            div.field { label for="token" { "Token" } input type="password" id="token" name="token" required autocomplete="current-password"; }
            p { button.main type="submit" { "Log in" } }
        }
    };
    let mut response = Page::new(Tab::Login, "Log in", body).into_response();
    *response.status_mut() = status;
    response
}

async fn login_form() -> Response {
    login_page(StatusCode::OK, "")
}

async fn login(State(app): Shared, posted: Posted) -> Response {
    let pairs = posted.map(|PostedForm(pairs)| pairs).unwrap_or_default();
    let cookie = app.access.log_in(value(&pairs, "token").unwrap_or_default()).await;
    cookie.map_or_else(|| login_page(StatusCode::FORBIDDEN, "This token is wrong."), |cookie| page::logged_in(&cookie))
}

async fn media(State(app): Shared, asked: Asked) -> Response {
    of_fields(app, Tab::Media, asked, |app, pairs| browse::media(app.program.as_ref(), pairs)).await
}

async fn records(State(app): Shared, asked: Asked) -> Response {
    of_fields(app, Tab::Records, asked, |app, pairs| browse::records(app, pairs)).await
}

async fn record(State(app): Shared, Path(id): Path<String>) -> Response {
    on_a_thread(&app, Tab::Records, move |app| browse::record(app.program.as_ref(), &id)).await
}

async fn download(State(app): Shared, Path((id, ending)): Path<(String, String)>) -> Response {
    on_a_thread(&app, Tab::Records, move |app| browse::download(app.program.as_ref(), &id, &ending)).await
}

async fn all_plans(State(app): Shared) -> Response {
    on_a_thread(&app, Tab::Plan, |app| plans::plans(app.program.as_ref())).await
}

async fn new_plan(State(app): Shared, asked: Asked) -> Response {
    of_fields(app, Tab::Plan, asked, |app, pairs| plans::new(app, pairs)).await
}

async fn keep_plan(State(app): Shared, posted: Posted) -> Response {
    of_form(app, Tab::Plan, posted, |app, pairs| plans::keep(app, pairs)).await
}

async fn kept_plan(State(app): Shared, Path(label): Path<String>) -> Response {
    on_a_thread(&app, Tab::Plan, move |app| plans::plan(app.program.as_ref(), &label)).await
}

async fn plan_file(State(app): Shared, Path(label): Path<String>) -> Response {
    on_a_thread(&app, Tab::Plan, move |app| plans::file(app.program.as_ref(), &label)).await
}

async fn all_fleets(State(app): Shared) -> Response {
    on_a_thread(&app, Tab::Fleet, |app| fleets::fleets(app.program.as_ref())).await
}

async fn fleet(State(app): Shared, Path(run): Path<String>) -> Response {
    on_a_thread(&app, Tab::Fleet, move |app| fleets::fleet(app.program.as_ref(), &run)).await
}

async fn fleet_part(State(app): Shared, Path(run): Path<String>, asked: Asked) -> Response {
    of_fields(app, Tab::Fleet, asked, move |app, pairs| fleets::part(app.program.as_ref(), &run, pairs)).await
}

async fn fleet_picture(State(app): Shared, Path(run): Path<String>) -> Response {
    on_a_thread(&app, Tab::Fleet, move |app| picture(app, &fleets::report_words(&run))).await
}

async fn all_watched(State(app): Shared) -> Response {
    on_a_thread(&app, Tab::Watch, |app| watch::all(app.program.as_ref())).await
}

async fn watched(State(app): Shared, Path(name): Path<String>) -> Response {
    on_a_thread(&app, Tab::Watch, move |app| watch::one(app.program.as_ref(), &name)).await
}

async fn watched_picture(State(app): Shared, Path(name): Path<String>) -> Response {
    on_a_thread(&app, Tab::Watch, move |app| picture(app, &watch::words(Some(&name)))).await
}

async fn baselines(State(app): Shared) -> Response {
    on_a_thread(&app, Tab::Baselines, |app| browse::baselines(app)).await
}

async fn set_baseline(State(app): Shared, posted: Posted) -> Response {
    of_form(app, Tab::Baselines, posted, |app, pairs| {
        let ids: Vec<String> = pairs.iter().filter(|(name, _)| name == "of").map(|(_, id)| id.clone()).collect();
        if ids.is_empty() || !ids.iter().all(|id| browse::is_id(id)) {
            return Err(Refusal { message: "tick at least one record".to_owned(), is_usage: true });
        }
        app.program.set_baseline(value(pairs, "name").unwrap_or_default().trim(), &ids)?;
        Ok(page::see("/baselines"))
    })
    .await
}

async fn remove_baseline(State(app): Shared, posted: Posted) -> Response {
    of_form(app, Tab::Baselines, posted, |app, pairs| {
        app.program.remove_baseline(value(pairs, "name").unwrap_or_default())?;
        Ok(page::see("/baselines"))
    })
    .await
}

async fn advise() -> Response {
    let forms = questions::ALL.iter().filter(|(tab, _)| *tab == Tab::Advise);
    let body = html! {
        h1 { "Advice" }
        ul.links { @for (_, form) in forms { li { a href=(form.path) { (form.title) } " " (form.lead) } } }
    };
    Page::new(Tab::Advise, "Advice", body).into_response()
}

/// The question of a path.
fn asked_question(path: &str) -> Option<(Tab, &'static Form)> {
    questions::ALL.into_iter().find(|(_, form)| form.path == path)
}

async fn question(State(app): Shared, uri: Uri, asked: Asked) -> Response {
    let Some((tab, form)) = asked_question(uri.path()) else { return page::missing() };
    let address = uri.query().unwrap_or_default().to_owned();
    of_fields(app, tab, asked, move |app, pairs| {
        let mut found = Ok(None);
        if form.is_asked(pairs) {
            found = form.words(pairs).map_err(|message| Refusal { message, is_usage: true }).and_then(|words| {
                let answer = app.program.answer(&words)?;
                Ok(Some((words, answer)))
            });
        }
        let picture = format!("{}/picture?{address}", form.path);
        let body = html! {
            @if !matches!(found, Ok(Some(_))) { h1 { (form.title) } p.text { (form.lead) } }
            @if let Err(refusal) = &found { (page::said(refusal)) }
            @if let Ok(Some((words, answer))) = &found {
                (page::answered(answer, words, &picture))
                h2 { "Ask again" }
            }
            (form.markup(pairs))
        };
        let page = Page::new(tab, form.title, body);
        Ok(match &found {
            Ok(Some((_, answer))) => page.with_answer(answer).into_response(),
            Ok(None) => page.into_response(),
            Err(_) => page.refused(),
        })
    })
    .await
}

async fn question_picture(State(app): Shared, uri: Uri, asked: Asked) -> Response {
    let path = uri.path().strip_suffix("/picture").unwrap_or_default();
    let Some((tab, form)) = asked_question(path) else { return page::missing() };
    of_fields(app, tab, asked, move |app, pairs| {
        let words = form.words(pairs).map_err(|message| Refusal { message, is_usage: true })?;
        picture(app, &words)
    })
    .await
}

fn picture(app: &App, words: &[String]) -> Result<Response, Refusal> {
    let nothing = || Refusal { message: "there is no figure to draw".to_owned(), is_usage: true };
    let drawing = app.program.answer(words)?.picture.ok_or_else(nothing)?;
    let name = HeaderValue::from_static("attachment; filename=\"assay.svg\"");
    // Opened by itself it would be a page of this server: it is only saved.
    let headers =
        [(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml")), (header::CONTENT_DISPOSITION, name)];
    Ok((headers, Body::from(drawing)).into_response())
}

async fn choose(State(app): Shared) -> Response {
    on_a_thread(&app, Tab::Measure, |app| Ok(measure::choose(app))).await
}

async fn plan(State(app): Shared, asked: Asked) -> Response {
    of_fields(app, Tab::Measure, asked, |app, pairs| measure::plan(app, pairs)).await
}

async fn start(State(app): Shared, posted: Posted) -> Response {
    of_form(app, Tab::Measure, posted, |app, pairs| measure::start(app, pairs)).await
}

async fn job(State(app): Shared, Path(id): Path<String>) -> Response {
    on_a_thread(&app, Tab::Measure, move |app| match id.parse().ok().and_then(|id| app.jobs.find(id)) {
        Some(job) => measure::job(app, &job),
        None => Ok(page::missing()),
    })
    .await
}

async fn events(State(app): Shared, Path(id): Path<String>, headers: HeaderMap, asked: Asked) -> Response {
    let Some(job) = id.parse().ok().and_then(|id| app.jobs.find(id)) else { return page::missing() };
    let pairs = fields(asked).unwrap_or_default();
    // A browser that lost the connection says what it has seen.
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(|id| id.parse::<u64>().ok());
    let from = seen.map(|seen| seen.saturating_add(1)).or_else(|| value(&pairs, "from")?.parse().ok()).unwrap_or(0);
    live::events(job, from).into_response()
}

async fn stop(State(app): Shared, Path(id): Path<String>, posted: Posted) -> Response {
    let own = match posted {
        Ok(PostedForm(pairs)) if app.access.is_own_form(&pairs) => Ok(()),
        _ => {
            Err(Refusal { message: "this form is not of this server; open the page again".to_owned(), is_usage: true })
        }
    };
    // No turn is waited for: a page that hangs on a medium must not keep its run from being stopped.
    match (own, id.parse().ok().and_then(|id| app.jobs.find(id))) {
        (Err(refusal), _) => page::refused(Tab::Measure, &refusal),
        (Ok(()), None) => page::missing(),
        (Ok(()), Some(job)) => {
            job.stop();
            page::see(&format!("/runs/{}", job.id))
        }
    }
}
