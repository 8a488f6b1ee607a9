// What pages of the server do beyond those of reports: copy text, and show a run while it lasts.
"use strict";
(() => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    const title = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = title; }, 2000);
    });
  }

  const ticks = document.querySelector("form[data-most]");
  if (ticks) {
    const hint = document.getElementById("ticked");
    const usual = hint.textContent;
    ticks.addEventListener("change", () => {
      const count = ticks.querySelectorAll("input[name=of]:checked").length;
      const tooMany = count > Number(ticks.dataset.most);
      hint.textContent = tooMany ? `${count} are ticked; a comparison takes at most ${ticks.dataset.most}.` : usual;
      hint.classList.toggle("bad", tooMany);
    });
  }

  // A run on many nodes: the report is asked for again, and sent where something has happened.
  const fleet = document.getElementById("fleet");
  if (fleet) {
    const look = async () => {
      try {
        const answer = document.hidden ? null : await fetch(`${fleet.dataset.part}?seen=${encodeURIComponent(fleet.dataset.stand)}`);
        if (answer && answer.status === 200) {
          const now = await answer.json();
          if (now.ended) {
            location.reload();
            return;
          }
          fleet.dataset.stand = now.stand;
          fleet.innerHTML = now.html;
        }
      } catch {
        // The server is away, and asked again.
      }
      setTimeout(look, 2000);
    };
    setTimeout(look, 2000);
  }

  const live = document.getElementById("live");
  if (!live || !window.EventSource) return;
  const part = name => document.getElementById("live-" + name);
  const say = (name, text) => { if (text) part(name).textContent = text; };
  const most = 300;
  const points = [];
  const draw = () => {
    const top = Math.max(...points, 1);
    const step = 600 / Math.max(points.length - 1, 1);
    const at = points.map((point, i) => `${(i * step).toFixed(1)},${(78 - 74 * point / top).toFixed(1)}`);
    part("curve").removeAttribute("hidden");
    part("curve").firstElementChild.setAttribute("points", at.join(" "));
  };
  const row = value => {
    const line = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = `${value.load} ${value.repeat}`;
    line.append(head);
    for (const key of ["rate", "iops", "p99"]) {
      const cell = document.createElement("td");
      cell.textContent = value[key];
      line.append(cell);
    }
    part("done").append(line);
  };
  const events = new EventSource(live.dataset.events);
  events.onmessage = message => {
    const value = JSON.parse(message.data);
    if (value.share !== undefined) part("share").value = value.share;
    for (const name of ["rate", "iops", "p99", "temperature", "left"]) {
      if (value.kind !== "done") say(name, value[name]);
    }
    if (["started", "phase", "repeat"].includes(value.kind)) say("head", value.text);
    if (value.kind === "done") row(value);
    if (value.kind === "warning") {
      const line = document.createElement("li");
      line.textContent = value.text;
      part("warnings").append(line);
    }
    if (value.point !== undefined) {
      points.push(value.point);
      if (points.length > most) points.shift();
      draw();
    }
  };
  events.addEventListener("over", () => { events.close(); location.reload(); });
})();
