"use strict";
/* What every view needs: elements, the API, the place in the hash, links, tables, numbers.

   A view is registered with explorer.register({name, title, about, available, render}). The heading (h2) with
   the view's title, and what it is about, are written here; render(root, params) fills the root below them,
   once for every change of place. A view is available where available(model) is true, or there is no such
   function. render may return a function (or a promise of one) that is called before the next view takes over. */
const explorer = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const views = [];
  const answers = new Map();
  const ANSWERS_KEPT = 400;
  let generation = 0;
  let leave = null;

  /* ---- Elements: data only ever becomes text nodes and attribute values. ---- */

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function" && name.startsWith("on")) node.addEventListener(name.slice(2).toLowerCase(), value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    append(node, children);
    return node;
  }

  function append(node, children) {
    for (const child of children) {
      if (child === null || child === undefined || child === false) continue;
      if (Array.isArray(child)) append(node, child);
      else node.append(child instanceof Node ? child : String(child));
    }
  }

  const element = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** A word of the vocabulary: isolated, so that its own direction never turns its surroundings. */
  const word = (text) => element("bdi", { dir: "auto" }, text);

  /* ---- The API ---- */

  const savedNode = () => document.getElementById("saved");
  let saved;

  function canonical(params) {
    const kept = Object.keys(params || {}).filter((key) => params[key] !== undefined).sort();
    return JSON.stringify(Object.fromEntries(kept.map((key) => [key, params[key]])));
  }

  async function ask(name, body) {
    const response = await fetch("/api/" + name, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    }).catch(() => {
      throw new Error("The server does not answer. Is stategram explore still running?");
    });
    const answer = await response.json().catch(() => ({ error: "The server's answer cannot be read." }));
    if (!response.ok) throw new Error(answer.error || `The server answered ${response.status}.`);
    return answer;
  }

  function api(name, params) {
    const body = canonical(params);
    const key = name + "?" + body;
    if (savedNode()) {
      saved = saved || JSON.parse(savedNode().textContent);
      const answer = Object.hasOwn(saved, key) ? saved[key] : { error: "not in this saved page: run stategram explore" };
      return answer.error ? Promise.reject(new Error(answer.error)) : Promise.resolve(answer);
    }
    let answer = answers.get(key);
    if (answer) {
      answers.delete(key);
    } else {
      answer = ask(name, body);
      answer.catch(() => answers.delete(key));
      if (answers.size >= ANSWERS_KEPT) answers.delete(answers.keys().next().value);
    }
    answers.set(key, answer);
    return answer;
  }

  /** Return newest(promise): a promise that settles only if newest was not called again meanwhile and the view
      is still the same, so that a slow old answer never overwrites a newer one. */
  function latest() {
    let ticket = 0;
    return (promise) => {
      const mine = ++ticket;
      const then = generation;
      const current = () => mine === ticket && then === generation;
      return new Promise((resolve, reject) => {
        Promise.resolve(promise).then(
          (value) => { if (current()) resolve(value); },
          (error) => { if (current()) reject(error); },
        );
      });
    };
  }

  /** Return a function that calls `action` once, `wait` ms after the last of its calls. */
  function debounce(action, wait) {
    let timer;
    const later = (...values) => {
      clearTimeout(timer);
      timer = setTimeout(() => action(...values), wait);
    };
    later.cancel = () => clearTimeout(timer);
    return later;
  }

  /* ---- The place: #/view?key=value ---- */

  function place() {
    const [, name, query] = /^#\/([^?]*)\??(.*)$/s.exec(location.hash) || [null, "", ""];
    return { view: name, params: Object.fromEntries(new URLSearchParams(query)) };
  }

  function model() {
    const number = Number(place().params.model || 0);
    return Number.isInteger(number) && explorer.info && explorer.info.models[number] ? number : 0;
  }

  function href(view, params) {
    const query = new URLSearchParams();
    const all = { model: model() || undefined, ...params };
    for (const [key, value] of Object.entries(all)) {
      if (value === undefined || value === null || value === "" || (key === "model" && !Number(value))) continue;
      query.set(key, value);
    }
    return "#/" + view + (query.size ? "?" + query : "");
  }

  function go(view, params) {
    const target = href(view, params);
    if (location.hash === target) render();
    else location.hash = target;
  }

  const replace = (view, params) => history.replaceState(history.state, "", href(view, params));

  /* ---- Views ---- */

  const register = (view) => { views.push(view); };
  const usable = () => views.filter((view) => !view.available || view.available(explorer.info.models[model()]));

  function drawNavigation(current) {
    const nav = document.getElementById("views");
    nav.replaceChildren(...usable().map((view) => element("a", {
      href: href(view.name), "aria-current": view === current && "page",
    }, view.title)));
    const models = explorer.info.models;
    let chooser = document.getElementById("model");
    if (models.length > 1 && !chooser) {
      chooser = element("select", { id: "model", onchange: () => {
        const { view, params } = place();
        const kept = view === "reading" || view === "ladder" || view === "compare" ? params : {};
        go(view || current.name, { ...kept, model: chooser.value });
      } }, models.map((each, index) => element("option", { value: index }, each.name)));
      nav.after(element("p", { class: "model" }, element("label", { for: "model" }, "Model"), chooser));
    }
    if (chooser) {
      chooser.value = model();
      chooser.parentNode.hidden = current.name === "compare";
    }
  }

  async function render() {
    const mine = ++generation;
    if (leave) leave();
    leave = null;
    const { view: name, params } = place();
    const view = usable().find((each) => each.name === name) || views[0];
    drawNavigation(view);
    status("");
    const main = document.getElementById("main");
    const moved = main.dataset.view && main.dataset.view !== view.name;
    const title = element("h2", { tabindex: "-1", class: "title" }, view.title);
    const root = element("div", { class: "view view-" + view.name }, view.about && element("p", { class: "lede" }, view.about));
    main.replaceChildren(title, root);
    main.dataset.view = view.name;
    document.title = `${view.title} · ${explorer.info.models[model()].name} · stategram`;
    if (moved) {
      scrollTo(0, 0);
      title.focus({ preventScroll: true });
    }
    try {
      const done = await view.render(root, params);
      if (typeof done === "function") {
        if (mine === generation) leave = done;
        else done();
      }
    } catch (problem) {
      if (mine === generation) error(root, problem);
    }
  }

  async function start() {
    try {
      explorer.info = await api("info", {});
    } catch (problem) {
      error(document.getElementById("main"), problem);
      return;
    }
    const skip = document.querySelector(".skip");
    if (skip) skip.addEventListener("click", (event) => {
      event.preventDefault(); // The hash is the place.
      document.getElementById("main").focus();
    });
    addEventListener("hashchange", render);
    await render();
  }

  function status(text) {
    const node = document.getElementById("status");
    if (node) node.textContent = text;
  }

  function error(root, problem) {
    for (const old of root.querySelectorAll(":scope > .problem")) old.remove();
    const text = problem instanceof Error ? problem.message : String(problem);
    root.prepend(element("p", { class: "problem", role: "alert" }, text.charAt(0).toUpperCase() + text.slice(1)));
  }

  /* ---- Links between views ---- */

  function wordLink(text) {
    const classes = explorer.info.models[model()].classes;
    const target = classes && classes.length ? href("tree", { word: text }) : href("ladder", { watched: text });
    return element("a", { href: target, class: "word" }, word(text));
  }

  const classLink = (source, number, text) =>
    element("a", { href: href("classes", { source, class: number }) }, text === undefined ? `class ${number}` : text);
  const stateLink = (source, number, text) =>
    element("a", { href: href("states", { source, state: number }) }, text === undefined ? `state ${number}` : text);

  /* ---- Tables ---- */

  const overflowing = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      // What scrolls must be reachable by keyboard; what does not should be no tab stop.
      if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });

  /** Return a table. A column is a title, or {title, style, value(row, index)}; a row is an array or, with
      value(), anything. Cells are nodes or text; the first one heads its row. options: {caption}. */
  function table(columns, rows, options) {
    const { caption } = options || {};
    const all = columns.map((column) => (typeof column === "string" ? { title: column } : column));
    const style = (column) => column.style || null;
    const body = rows.map((row, at) => element("tr", null, all.map((column, index) => {
      const value = column.value ? column.value(row, at) : row[index];
      return index === 0
        ? element("th", { scope: "row", class: style(column) }, value)
        : element("td", { class: style(column), "data-label": column.title }, element("span", null, value));
    })));
    const node = element("div", { class: "table", role: "group", "aria-label": caption || "Table" },
      element("table", null,
        caption && element("caption", null, caption),
        element("thead", null, element("tr", null,
          all.map((column) => element("th", { scope: "col", class: style(column) }, column.title)))),
        element("tbody", null, body)));
    overflowing.observe(node);
    return node;
  }

  const facts = (pairs) => element("dl", null,
    pairs.map(([name, value]) => [element("dt", null, name), element("dd", null, value)]));

  /* ---- Numbers as text ---- */

  const two = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const figures = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
  const missing = (value) => value === null || value === undefined || Number.isNaN(value);

  const bits = (value) => (missing(value) ? "–" : two.format(value));
  const count = (value) => (missing(value) ? "–" : whole.format(value));
  function percent(value) {
    if (missing(value)) return "–";
    const hundredths = 100 * value;
    if (hundredths > 0 && hundredths < 0.0001) return "<0.0001%";
    if (hundredths > 99.995) return "100%";
    return (hundredths >= 99 ? two.format(hundredths) : figures.format(hundredths)) + "%";
  }

  return {
    info: null, element, svg, word, api, latest, debounce, register, go, href, replace, place, start, status,
    error, wordLink, classLink, stateLink, table, facts, usable, bits, percent, count,
    get model() { return model(); },
  };
})();
