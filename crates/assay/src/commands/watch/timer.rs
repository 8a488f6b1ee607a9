//! What calls a watch each night: a timer of systemd, or a line of cron.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use assay_core::text::posix_word;
use assay_watch::{Measured, Plan};

use crate::ending::Failure;
use crate::{files, output, state, system};

/// What calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Timer {
    /// Two units of systemd.
    Systemd {
        /// Their directory.
        directory: PathBuf,
        /// Whether they are those of the system.
        of_system: bool,
        /// Text of the service.
        service: String,
        /// Text of the timer.
        timer: String,
    },
    /// A line of the user's table of cron.
    Cron(String),
}

impl Timer {
    /// The one for this system.
    pub(super) fn of(plan: &Plan) -> Result<Self, Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::environment(format!("this program: {error}")))?;
        // A timer does not inherit the variables that name the store's directory. A system unit has no HOME either.
        let data = state::directory()?;
        let data = std::path::absolute(&data)
            .map_err(|error| Failure::environment(format!("{}: {error}", output::shown(&data))))?;
        let data = data.to_string_lossy();
        if Path::new("/run/systemd/system").is_dir() {
            let of_system = system::is_root();
            return Ok(Self::systemd(plan, &program, &data, unit_directory(of_system)?, of_system));
        }
        Ok(Self::cron(plan, &program, &data))
    }

    fn systemd(plan: &Plan, program: &Path, data: &str, directory: PathBuf, of_system: bool) -> Self {
        let program = systemd_word(&program.to_string_lossy());
        let data = environment_word(&format!("ASSAY_DATA={data}"));
        let service = format!(
            "[Unit]\nDescription=assay: a night of {name}\n\n[Service]\nType=oneshot\nEnvironment={data}\n\
             ExecStart={program} {words}\nSuccessExitStatus=1 6\nNice=10\n",
            name = plan.name,
            words = words(plan),
        );
        let timer = format!(
            "[Unit]\nDescription=assay: nights of {}\n\n[Timer]\nOnCalendar=*-*-* {}:00\nPersistent=true\n\n[Install]\n\
             WantedBy=timers.target\n",
            plan.name, plan.nightly
        );
        Self::Systemd { directory, of_system, service, timer }
    }

    fn cron(plan: &Plan, program: &Path, data: &str) -> Self {
        let (hour, minute) = plan.nightly.split_once(':').unwrap_or(("3", "30"));
        let plain = |number: &str| number.trim_start_matches('0').to_owned();
        let or_zero = |number: String| if number.is_empty() { "0".to_owned() } else { number };
        let program = posix_word(&program.to_string_lossy());
        let command = format!("ASSAY_DATA={} {program} {}", posix_word(data), words(plan));
        // Cron ends a line at a percent sign.
        let command = command.replace('%', "\\%");
        Self::Cron(format!(
            "{} {} * * * {command} {}",
            or_zero(plain(minute)),
            or_zero(plain(hour)),
            marker(&plan.name)
        ))
    }

    /// What would be written, and where.
    pub(super) fn text(&self, plan: &Plan) -> String {
        match self {
            Self::Systemd { directory, service, timer, .. } => {
                let file = |ending: &str| output::shown(&directory.join(format!("{}.{ending}", unit(&plan.name))));
                format!("# {}\n{service}\n# {}\n{timer}", file("service"), file("timer"))
            }
            Self::Cron(line) => format!("# crontab\n{line}\n"),
        }
    }

    /// Writes and starts it.
    pub(super) fn install(&self, plan: &Plan) -> Result<(), Failure> {
        match self {
            Self::Systemd { directory, of_system, service, timer } => {
                std::fs::create_dir_all(directory).map_err(|error| {
                    Failure::environment(format!("{} cannot be made: {error}", output::shown(directory)))
                })?;
                let unit = unit(&plan.name);
                files::write_whole(&directory.join(format!("{unit}.service")), service)?;
                files::write_whole(&directory.join(format!("{unit}.timer")), timer)?;
                systemctl(*of_system, &["daemon-reload"])?;
                systemctl(*of_system, &["enable", "--now", &format!("{unit}.timer")])?;
                if !of_system {
                    output::tell_wrapped(
                        "the timer runs while you are logged in; loginctl enable-linger lets it run always",
                    );
                }
                Ok(())
            }
            Self::Cron(line) => {
                let mut lines = crontab_without(&plan.name)?;
                lines.push(line.clone());
                write_crontab(&lines)
            }
        }
    }
}

/// Ends what calls a watch, wherever it is.
pub(super) fn remove(name: &str) -> Result<(), Failure> {
    let of_system = system::is_root();
    if let Ok(directory) = unit_directory(of_system) {
        let files = ["timer", "service"].map(|ending| directory.join(format!("{}.{ending}", unit(name))));
        if files.iter().any(|file| file.is_file()) {
            let _ = systemctl(of_system, &["disable", "--now", &format!("{}.timer", unit(name))]);
            for file in files.iter().filter(|file| file.is_file()) {
                std::fs::remove_file(file).map_err(|error| {
                    Failure::environment(format!("{} cannot be removed: {error}", output::shown(file)))
                })?;
            }
            let _ = systemctl(of_system, &["daemon-reload"]);
        }
    }
    if let Ok(text) = crontab()
        && text.lines().any(|line| line.ends_with(&marker(name)))
    {
        write_crontab(&crontab_without(name)?)?;
    }
    Ok(())
}

/// What the timer calls.
fn words(plan: &Plan) -> String {
    match &plan.measured {
        Measured::Here => format!("watch run {}", plan.name),
        Measured::Node { fleet, .. } => format!("fleet watch run {fleet}"),
    }
}

fn unit(name: &str) -> String {
    format!("assay-watch-{name}")
}

fn unit_directory(of_system: bool) -> Result<PathBuf, Failure> {
    if of_system {
        return Ok(PathBuf::from("/etc/systemd/system"));
    }
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = of("XDG_CONFIG_HOME").or_else(|| of("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("systemd/user")).ok_or_else(|| {
        Failure::environment(
            "neither XDG_CONFIG_HOME nor HOME names a directory for the timer; set one, or use --print",
        )
    })
}

/// Quotes a word of a command in a unit file.
fn systemd_word(text: &str) -> String {
    environment_word(&text.replace('$', "$$"))
}

/// Quotes the value of `Environment=` in a unit file. systemd does not expand a dollar sign there.
fn environment_word(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{text}\"")
}

fn systemctl(of_system: bool, words: &[&str]) -> Result<(), Failure> {
    let mut command = Command::new("systemctl");
    if !of_system {
        command.arg("--user");
    }
    let done = command.args(words).stdin(Stdio::null()).output();
    match done {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            let last = said.lines().last().unwrap_or("no reason given");
            Err(Failure::environment(format!("systemctl {}: {last}; --print shows the units", words.join(" "))))
        }
        Err(error) => Err(Failure::environment(format!("systemctl: {error}; --print shows the units"))),
    }
}

// Cron.

fn marker(name: &str) -> String {
    format!("# assay watch {name}")
}

fn crontab() -> Result<String, Failure> {
    let done = Command::new("crontab").arg("-l").stdin(Stdio::null()).output();
    match done {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        // There is none yet.
        Ok(_) => Ok(String::new()),
        Err(error) => Err(Failure::environment(format!(
            "neither systemd nor cron is here (crontab: {error}); --print shows a line for another timer"
        ))),
    }
}

fn crontab_without(name: &str) -> Result<Vec<String>, Failure> {
    Ok(crontab()?.lines().filter(|line| !line.ends_with(&marker(name))).map(str::to_owned).collect())
}

fn write_crontab(lines: &[String]) -> Result<(), Failure> {
    let failed =
        |error: &dyn std::fmt::Display| Failure::environment(format!("crontab: {error}; --print shows the line"));
    let mut child = Command::new("crontab").arg("-").stdin(Stdio::piped()).spawn().map_err(|e| failed(&e))?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all((lines.join("\n") + "\n").as_bytes()).map_err(|e| failed(&e))?;
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(&status)),
        Err(error) => Err(failed(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan {
            name: "card".into(),
            title: String::new(),
            unit: None,
            target: "/mnt".into(),
            raw: false,
            measured: Measured::Here,
            nightly: "03:05".into(),
            suite: "quick".into(),
            budget_seconds: 60,
            max_write_bytes: 1,
            endurance_bytes: None,
            capacity_bytes: None,
            notify: Vec::new(),
            webhooks: Vec::new(),
            mail: Vec::new(),
            mqtt: None,
            textfile: None,
        }
    }

    #[test]
    fn units_and_lines_hold_any_path() {
        let timer = Timer::systemd(&plan(), Path::new("/opt/a b%/assay"), "/x y$z", "/u".into(), false);
        let Timer::Systemd { service, timer, .. } = timer else { panic!() };
        assert!(service.contains("ExecStart=\"/opt/a b%%/assay\" watch run card\n"), "{service}");
        assert!(service.contains("Environment=\"ASSAY_DATA=/x y$z\"\n"), "{service}");
        assert!(timer.contains("OnCalendar=*-*-* 03:05:00\n"), "{timer}");
        let line = Timer::cron(&plan(), Path::new("/opt/a b%/assay"), "/x y");
        let expected = "5 3 * * * ASSAY_DATA='/x y' '/opt/a b\\%/assay' watch run card # assay watch card";
        assert_eq!(line, Timer::Cron(expected.to_owned()));
    }
}
