//! What pages, mails, logs and code put around a text: marks of forums and wikis, prefixes of loggers, strings.

use super::damage::{Damage, ended};

/// A time of the day for a line.
fn clock(at: usize) -> String {
    format!("10:{:02}:{:02}", at / 60 % 60, at % 60)
}

fn within(text: &str, front: &str, behind: &str) -> Vec<u8> {
    format!("{front}\n{}\n{behind}\n", text.trim_end_matches('\n')).into_bytes()
}

fn escaped(line: &str) -> String {
    line.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t")
}

fn markup(line: &str) -> String {
    line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[rustfmt::skip]
pub const WRAPPINGS: &[Damage] = &[
    // Pages.
    Damage { name: "a forum's code", wraps: true, of: |text, _| within(text, "Hello,\n\nthis is what I get:\n\n[CODE]", "[/CODE]\n\nIs that good?") },
    Damage { name: "a spoiler of a forum", wraps: true, of: |text, _| within(text, "[SPOILER=\"Result\"]\n[FONT=Courier New]", "[/FONT]\n[/SPOILER]") },
    Damage { name: "a post with a fence", wraps: true, of: |text, _| within(text, "## Result\n\nThis is what I get:\n\n```console", "```\n\nIs that good?") },
    Damage { name: "folded in a post", wraps: true, of: |text, _| within(text, "<details>\n<summary>Result</summary>\n\n```", "```\n\n</details>") },
    Damage { name: "a fence in a list", wraps: false, of: |text, _| {
        [b"- this is what I get:\n\n  ```\n".to_vec(), ended(text, |(_, line)| format!("  {line}")), b"  ```\n\n- next\n".to_vec()].concat()
    } },
    Damage { name: "Jira", wraps: true, of: |text, _| within(text, "{noformat}", "{noformat}") },
    Damage { name: "Trac", wraps: true, of: |text, _| within(text, "{{{", "}}}") },
    Damage { name: "Org", wraps: true, of: |text, _| within(text, "#+BEGIN_EXAMPLE", "#+END_EXAMPLE") },
    Damage { name: "AsciiDoc", wraps: true, of: |text, _| within(text, ".Result\n----", "----") },
    Damage { name: "reStructuredText", wraps: false, of: |text, _| {
        [b"Result::\n\n".to_vec(), ended(text, |(_, line)| format!("   {line}")), b"\nThe end.\n".to_vec()].concat()
    } },
    Damage { name: "a wiki", wraps: true, of: |text, _| ended(text, |(_, line)| format!(" {line}")) },
    Damage { name: "a page with breaks", wraps: true, of: |text, _| {
        ended(text, |(_, line)| format!("{}<br />", markup(line).replace("  ", "&nbsp; ")))
    } },
    Damage { name: "paragraphs of a page", wraps: true, of: |text, _| {
        ended(text, |(_, line)| format!("<p class=\"x\"><code>{}</code></p>", markup(line).replace("  ", " &nbsp;")))
    } },
    Damage { name: "no-break blanks alone", wraps: true, of: |text, _| text.replace(' ', "\u{a0}").into_bytes() },
    Damage { name: "set in by a tab", wraps: true, of: |text, _| ended(text, |(_, line)| format!("\t{line}")) },
    // Mails.
    Damage { name: "quoted without a blank", wraps: true, of: |text, _| ended(text, |(_, line)| format!(">{line}")) },
    Damage { name: "a mail that answers", wraps: false, of: |text, _| {
        [b"On Tue, 1 May 2024 at 10:00, A B <a@example.org> wrote:\n".to_vec(), ended(text, |(_, line)| format!("> {line}")), b"\nThanks.\n\n-- \nA B\n".to_vec()].concat()
    } },
    Damage { name: "quoted with a bar", wraps: true, of: |text, _| ended(text, |(_, line)| format!("| {line}")) },
    Damage { name: "a bar of a box", wraps: false, of: |text, _| ended(text, |(_, line)| format!("\u{2502} {line}")) },
    // Terminals.
    Damage { name: "between prompts", wraps: true, of: |text, _| within(text, "user@host:~$ cat result.txt", "user@host:~$ exit") },
    Damage { name: "typescript", wraps: true, of: |text, _| {
        within(text, "Script started on 2024-05-01 10:00:00+00:00 [TERM=\"xterm\"]", "\nScript done on 2024-05-01 10:10:00+00:00 [COMMAND_EXIT_CODE=\"0\"]")
    } },
    Damage { name: "colours", wraps: true, of: |text, _| ended(text, |(_, line)| format!("\u{1b}[32m{line}\u{1b}[0m")) },
    // Loggers.
    Damage { name: "mpirun with tags", wraps: false, of: |text, _| ended(text, |(_, line)| format!("[1,0]<stdout>:{line}")) },
    Damage { name: "mpirun with tags and blanks", wraps: false, of: |text, _| ended(text, |(_, line)| format!("[1,0]<stdout>: {line}")) },
    Damage { name: "srun with labels", wraps: true, of: |text, _| ended(text, |(_, line)| format!("0: {line}")) },
    Damage { name: "pdsh", wraps: true, of: |text, _| ended(text, |(_, line)| format!("node-07: {line}")) },
    Damage { name: "parallel with tags", wraps: false, of: |text, _| ended(text, |(_, line)| format!("/dev/sdb\t{line}")) },
    Damage { name: "kubectl", wraps: true, of: |text, _| ended(text, |(_, line)| format!("[pod/bench-x2f/fio] {line}")) },
    Damage { name: "Jenkins", wraps: true, of: |text, _| ended(text, |(at, line)| format!("[2024-05-01T{}.123Z] {line}", clock(at))) },
    Damage { name: "GitLab", wraps: true, of: |text, _| ended(text, |(at, line)| format!("2024-05-01T{}.123456Z 01O {line}", clock(at))) },
    Damage { name: "TeamCity", wraps: false, of: |text, _| ended(text, |(at, line)| format!("[{}] :\t [Step 1/2] {line}", clock(at))) },
    Damage { name: "log4j", wraps: true, of: |text, _| ended(text, |(at, line)| format!("2024-05-01 {},123 INFO  [main] o.e.Bench - {line}", clock(at))) },
    Damage { name: "Spark", wraps: false, of: |text, _| ended(text, |(at, line)| format!("24/05/01 {} INFO Bench: {line}", clock(at))) },
    Damage { name: "tracing", wraps: false, of: |text, _| ended(text, |(at, line)| format!("2024-05-01T{}.123456Z  INFO bench::run: {line}", clock(at))) },
    Damage { name: "logrus", wraps: true, of: |text, _| {
        ended(text, |(at, line)| format!("time=\"2024-05-01T{}Z\" level=info msg=\"{}\"", clock(at), escaped(line)))
    } },
    Damage { name: "Maven", wraps: true, of: |text, _| ended(text, |(_, line)| format!("[INFO] {line}")) },
    Damage { name: "brackets of time and place", wraps: false, of: |text, _| ended(text, |(at, line)| format!("[{}.123][node1][INFO] {line}", clock(at))) },
    Damage { name: "Puppet", wraps: false, of: |text, _| ended(text, |(_, line)| format!("Notice: /Stage[main]/Bench/Exec[fio]/returns: {line}")) },
    Damage { name: "Terraform", wraps: true, of: |text, _| ended(text, |(_, line)| format!("aws_instance.a[0] (remote-exec): {line}")) },
    Damage { name: "Vagrant", wraps: true, of: |text, _| ended(text, |(_, line)| format!("    default: {line}")) },
    Damage { name: "pytest", wraps: false, of: |text, _| ended(text, |(_, line)| format!("E       {line}")) },
    Damage { name: "Lava", wraps: true, of: |text, _| ended(text, |(at, line)| format!("{} {line}", clock(at))) },
    Damage { name: "the kernel's ring", wraps: true, of: |text, _| ended(text, |(at, line)| format!("[{:5}.{:06}] bench: {line}", at, at * 7 % 1000)) },
    Damage { name: "seconds in front", wraps: false, of: |text, _| ended(text, |(at, line)| format!("{:8.3}s  {line}", at as f64 / 7.0)) },
    Damage { name: "found by grep in a file", wraps: false, of: |text, _| ended(text, |(_, line)| format!("logs/run1.log:{line}")) },
    Damage { name: "found by grep with numbers", wraps: false, of: |text, _| ended(text, |(at, line)| format!("logs/run1.log:{}:{line}", at + 1)) },
    // Code.
    Damage { name: "a comment of C", wraps: true, of: |text, _| {
        [b"/**\n".to_vec(), ended(text, |(_, line)| format!(" * {line}")), b" */\n".to_vec()].concat()
    } },
    Damage { name: "a patch that adds it", wraps: true, of: |text, _| {
        let lines = text.lines().count();
        [format!("--- /dev/null\n+++ b/result.txt\n@@ -0,0 +1,{lines} @@\n").into_bytes(), ended(text, |(_, line)| format!("+{line}"))].concat()
    } },
    Damage { name: "a member of JSON", wraps: true, of: |text, _| {
        format!("{{\"changed\": true, \"stdout\": \"{}\", \"rc\": 0}}\n", text.lines().map(escaped).collect::<Vec<_>>().join("\\n")).into_bytes()
    } },
    Damage { name: "lines of JSON", wraps: false, of: |text, _| {
        let lines: Vec<String> = text.lines().map(|line| format!("    \"{}\"", escaped(line))).collect();
        format!("{{\n  \"stdout_lines\": [\n{}\n  ]\n}}\n", lines.join(",\n")).into_bytes()
    } },
    Damage { name: "a block of YAML", wraps: false, of: |text, _| {
        [b"result:\n  host: a\n  output: |\n".to_vec(), ended(text, |(_, line)| format!("    {line}"))].concat()
    } },
    Damage { name: "a string of Python", wraps: true, of: |text, _| within(text, "EXPECTED = \"\"\"", "\"\"\"") },
    Damage { name: "a document of a shell", wraps: true, of: |text, _| within(text, "cat > result.txt <<'EOF'", "EOF") },
    // Word processors.
    Damage { name: "typographic dashes", wraps: false, of: |text, _| text.replace(" --", " \u{2013}").replace(" - ", " \u{2013} ").into_bytes() },
    Damage { name: "typographic quotes", wraps: false, of: |text, _| text.replace(" '", " \u{2018}").replace('\'', "\u{2019}").into_bytes() },
];
