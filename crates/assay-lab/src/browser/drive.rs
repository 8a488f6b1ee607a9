//! Chromium, driven by its debugging pipe (<https://chromedevtools.github.io/devtools-protocol/>): no other program is needed.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::host::{Missing, skip};

/// A browser with one page.
pub struct Browser {
    child: Child,
    /// The test, until it was said that axe is missing.
    test: Option<String>,
    session: String,
    next: u64,
    unread: Vec<u8>,
    events: Vec<Value>,
}

impl Browser {
    /// A browser with its profile in this directory; none, and a skip, where none is installed.
    pub fn start(directory: &Path, test: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|directory| directory.join("chromium").is_file()) {
            skip(test, &Missing("needs chromium".to_owned()));
            return None;
        }
        let profile = directory.join("profile");
        // The browser reads commands at descriptor 3 and answers at 4.
        let script = "exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
                      --disable-component-update --disable-sync --hide-scrollbars --remote-debugging-pipe \
                      --user-data-dir=\"$0\" 3<&0 4>&1 </dev/null >/dev/null 2>/dev/null";
        let child = Command::new("sh")
            .args(["-c", script])
            .arg(&profile)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (test, session) = (Some(test.to_owned()), String::new());
        let mut browser = Self { child, test, session, next: 0, unread: Vec::new(), events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser.call("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        Some(browser)
    }

    /// The test whose pages cannot be looked at by axe; none where that was asked before.
    pub(super) fn lacks_axe(&mut self) -> Option<String> {
        self.test.take()
    }

    fn message(&mut self) -> Value {
        loop {
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let message = serde_json::from_slice(&self.unread[..end]).unwrap();
                self.unread.drain(..=end);
                return message;
            }
            let mut some = [0; 65536];
            let length = self.child.stdout.as_mut().unwrap().read(&mut some).unwrap();
            assert!(length > 0, "the browser has ended");
            self.unread.extend_from_slice(&some[..length]);
        }
    }

    /// Asks the browser, and returns its answer.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut command = json!({"id": self.next, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = json!(self.session);
        }
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(format!("{command}\0").as_bytes()).unwrap();
        input.flush().unwrap();
        loop {
            let message = self.message();
            if message["id"] == json!(self.next) {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Waits until a page that is on its way has been loaded. An earlier page may report its own end of loading meanwhile.
    fn loaded(&mut self, is_awaited: impl Fn(&Value) -> bool) {
        let is_loaded = |event: &Value| {
            event["method"] == "Page.lifecycleEvent"
                && event["params"]["name"] == "load"
                && is_awaited(&event["params"]["loaderId"])
        };
        loop {
            if let Some(at) = self.events.iter().position(is_loaded) {
                self.events.remove(at);
                return;
            }
            let message = self.message();
            self.events.push(message);
        }
    }

    /// Opens a page.
    pub fn open(&mut self, address: &str) {
        let loader = self.call("Page.navigate", json!({"url": address}))["loaderId"].clone();
        self.loaded(|loaded| *loaded == loader);
    }

    /// What an expression is in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The same as a text.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Does something in the page that opens another one, and waits for that.
    pub fn follow(&mut self, expression: &str) {
        self.leave(|browser| drop(browser.value(&format!("{expression}; 1"))));
    }

    /// Presses Enter where that opens another page, and waits for that.
    pub fn enter(&mut self) {
        self.leave(|browser| browser.press("Enter", 13));
    }

    fn leave(&mut self, by: impl FnOnce(&mut Self)) {
        let shown = self.call("Page.getFrameTree", json!({}))["frameTree"]["frame"]["loaderId"].clone();
        self.events.retain(|event| event["method"] != "Page.lifecycleEvent");
        by(self);
        self.loaded(|loaded| *loaded != shown);
    }

    /// Presses a key, as a user does.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["keyDown", "keyUp"] {
            let text = match key {
                "Enter" => "\r",
                " " => " ",
                _ => "",
            };
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// The width of the window, in pixels.
    pub fn width(&mut self, width: u32) {
        let metrics = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Whether the user prefers dark pages.
    pub fn dark(&mut self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Whether scripts of pages run.
    pub fn scripts(&mut self, run: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({"value": !run}));
    }

    /// Whether pages do without the policy that came with them, from the next page on.
    pub fn bypass_policy(&mut self, bypass: bool) {
        self.call("Page.setBypassCSP", json!({"enabled": bypass}));
    }

    /// What the console and the policies complained of since the last look.
    pub fn complaints(&mut self) -> Vec<String> {
        let complaint = |event: &Value| match event["method"].as_str() {
            Some("Log.entryAdded") => Some(event["params"]["entry"]["text"].to_string()),
            Some("Runtime.exceptionThrown") => Some(event["params"].to_string()),
            _ => None,
        };
        let found = self.events.iter().filter_map(complaint).collect();
        self.events.clear();
        found
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
