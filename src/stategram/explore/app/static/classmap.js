"use strict";
/* The class map: every word class is a circle (its area: how much of the text it covers), near to the classes
   that are used alike. */
(() => {
  const { element, svg, joined, bars } = explorer;

  /* ---- The map ---- */

  const PADDING = 36;
  const CLOSEST = 24;
  const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  /* Where the map was left, so that following a link does not throw the reader out of a zoomed map. */
  let lastView = null;

  function drawMap(data, key, onSelect) {
    const classes = [...data.classes].sort((a, b) => b.tokens - a.tokens);
    const byNumber = new Map(classes.map((each) => [each.number, each]));
    const view = lastView && lastView.key === key ? lastView : { key, zoom: 1, left: 0, top: 0 };
    lastView = view;
    let width = 0;
    let height = 0;
    let selected = null;
    let focused = classes[0];
    let scheduled = 0;

    const lines = svg("g", { "aria-hidden": "true" });
    const labels = svg("g", { class: "map-labels", "aria-hidden": "true" });
    const dots = svg("g", { role: "presentation" });
    const layer = svg("g", { role: "presentation" }, lines, dots, labels);
    const root = svg("svg", { class: "map", role: "group", "aria-label":
      `Map of ${classes.length} classes. Arrow keys move to the nearest class, Enter opens it, plus and minus zoom.` }, layer);
    const hint = element("p", { class: "note map-hint" });
    const nodes = new Map(classes.map((each) => {
      const node = svg("circle", {
        class: "dot", role: "button", tabindex: each === focused ? 0 : -1, "aria-pressed": "false",
        "aria-label": `Class ${each.number}: ${each.top.join(", ")}; ${explorer.percent(each.tokens)} of the text`,
      }, svg("title", null, each.top.join(" · ")));
      node.classed = each;
      return [each.number, node];
    }));
    dots.append(...nodes.values());

    const radius = (each) => Math.max(2.5, Math.min(.09 * width, Math.sqrt(each.tokens * .14 * width * height / Math.PI)))
      * Math.sqrt(view.zoom);
    const x = (each) => (PADDING + each.x * (width - 2 * PADDING)) * view.zoom;
    const y = (each) => (PADDING + each.y * (height - 2 * PADDING)) * view.zoom;

    function place() {
      for (const each of classes) {
        const node = nodes.get(each.number);
        node.setAttribute("cx", x(each).toFixed(1));
        node.setAttribute("cy", y(each).toFixed(1));
        node.setAttribute("r", radius(each).toFixed(1));
      }
      move();
      lit(null);
    }

    function move() {
      view.left = Math.max(width - width * view.zoom, Math.min(0, view.left));
      view.top = Math.max(height - height * view.zoom, Math.min(0, view.top));
      layer.setAttribute("transform", `translate(${view.left.toFixed(1)} ${view.top.toFixed(1)})`);
      root.classList.toggle("zoomed", view.zoom > 1);
      name();
    }

    /** Label the classes in sight, the largest first, as far as there is room: with two words, or with one; on the
        circle, below it or above it. */
    function name() {
      const taken = [];
      const made = [];
      for (const each of classes) {
        const [cx, cy] = [x(each), y(each)];
        const out = (at, size) => at < -radius(each) || at > size + radius(each);
        if (out(cx + view.left, width) || out(cy + view.top, height)) continue;
        const aside = radius(each) + 8;
        for (const [n, dy] of [[2, 0], [1, 0], [1, aside], [1, -aside]]) {
          const words = each.top.slice(0, n).join(" · ");
          const text = words.length > 24 ? words.slice(0, 23) + "…" : words;
          const half = 3.4 * text.length + 4;
          const [at, level] = [Math.max(half - view.left, Math.min(width - half - view.left, cx)), cy + dy];
          if (level + view.top < 8 || level + view.top > height - 8) continue;
          if (taken.some((box) => Math.abs(box[0] - at) < box[1] + half && Math.abs(box[2] - level) < 15)) continue;
          taken.push([at, half, level]);
          made.push(svg("text", { x: at.toFixed(1), y: (level + 4).toFixed(1), direction: "ltr" }, text));
          break;
        }
      }
      labels.replaceChildren(...made);
    }

    const draw = () => {
      if (scheduled) return;
      scheduled = requestAnimationFrame(() => {
        scheduled = 0;
        place();
      });
    };

    function zoomBy(factor, atX = width / 2, atY = height / 2) {
      const zoom = Math.max(1, Math.min(CLOSEST, view.zoom * factor));
      const real = zoom / view.zoom;
      view.left = atX - (atX - view.left) * real;
      view.top = atY - (atY - view.top) * real;
      view.zoom = zoom;
      draw();
    }

    function neighbours(of, list, kind) {
      return list.filter(([number]) => number !== of.number && byNumber.has(number)).map(([number, probability]) => {
        const to = byNumber.get(number);
        nodes.get(number).classList.add(kind);
        const [ax, ay, bx, by] = [x(of), y(of), x(to), y(to)];
        const bend = kind === "follows" ? .12 : -.12;
        const middle = `${((ax + bx) / 2 - (by - ay) * bend).toFixed(1)} ${((ay + by) / 2 + (bx - ax) * bend).toFixed(1)}`;
        return svg("path", { class: kind, d: `M${ax.toFixed(1)} ${ay.toFixed(1)}Q${middle} ${bx.toFixed(1)} ${by.toFixed(1)}`,
          "stroke-width": (1 + 6 * Math.sqrt(probability)).toFixed(1) });
      });
    }

    /** Show what follows and precedes a class: the one pointed at, else the selected one. */
    function lit(each) {
      const shown = each || selected;
      for (const old of dots.querySelectorAll(".follows, .before, .centre")) old.classList.remove("follows", "before", "centre");
      root.classList.toggle("lit", Boolean(shown));
      lines.replaceChildren();
      hint.replaceChildren();
      if (!shown) {
        hint.append("Point at a class to see what follows it and what comes before it.");
        return;
      }
      nodes.get(shown.number).classList.add("centre");
      lines.append(...neighbours(shown, shown.before, "before"), ...neighbours(shown, shown.followers, "follows"));
      hint.append(`Class ${shown.number}: `, ...joined(shown.top),
        ` (${explorer.count(shown.words)} words, ${explorer.percent(shown.tokens)} of the text)`);
    }

    function focus(each) {
      nodes.get(focused.number).setAttribute("tabindex", "-1");
      focused = each;
      const node = nodes.get(each.number);
      node.setAttribute("tabindex", "0");
      const [cx, cy] = [x(each) + view.left, y(each) + view.top];
      if (cx < 0 || cx > width || cy < 0 || cy > height) {
        view.left += width / 2 - cx;
        view.top += height / 2 - cy;
        move();
      }
      node.focus({ preventScroll: true });
    }

    /** The nearest class in a direction; what lies aside counts double. */
    function towards([dx, dy]) {
      let best = null;
      let least = Infinity;
      for (const each of classes) {
        const [ox, oy] = [x(each) - x(focused), y(each) - y(focused)];
        const along = ox * dx + oy * dy;
        if (each === focused || along <= 0) continue;
        const cost = along + 2 * Math.abs(ox * dy - oy * dx);
        if (cost < least) [best, least] = [each, cost];
      }
      return best;
    }

    function select(number) {
      if (selected) nodes.get(selected.number).setAttribute("aria-pressed", "false");
      selected = byNumber.get(number) || null;
      for (const old of dots.querySelectorAll(".selected")) old.classList.remove("selected");
      if (selected) {
        const node = nodes.get(number);
        node.setAttribute("aria-pressed", "true");
        node.classList.add("selected");
        nodes.get(focused.number).setAttribute("tabindex", "-1");
        focused = selected;
        node.setAttribute("tabindex", "0");
      }
      lit(null);
    }

    root.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const order = classes.indexOf(focused);
      const steps = { Home: 0, End: classes.length - 1, PageDown: Math.min(order + 1, classes.length - 1), PageUp: Math.max(order - 1, 0) };
      if (DIRECTIONS[event.key]) {
        const next = towards(DIRECTIONS[event.key]);
        if (next) focus(next);
      } else if (event.key in steps) focus(classes[steps[event.key]]);
      else if (event.key === "Enter" || event.key === " ") onSelect(focused.number);
      else if (event.key === "+" || event.key === "=") zoomBy(1.5);
      else if (event.key === "-") zoomBy(1 / 1.5);
      else if (event.key === "0") zoomBy(1 / CLOSEST);
      else return;
      event.preventDefault();
    });
    root.addEventListener("focusin", (event) => { if (event.target.classed) lit(event.target.classed); });
    root.addEventListener("focusout", () => lit(null));
    root.addEventListener("pointerover", (event) => { if (!dragged && event.target.classed) lit(event.target.classed); });
    root.addEventListener("pointerout", (event) => { if (!dragged && event.target.classed) lit(null); });
    root.addEventListener("wheel", (event) => {
      if (event.deltaY > 0 && view.zoom === 1) return; // there is nothing further out: let the page scroll
      event.preventDefault();
      const box = root.getBoundingClientRect();
      zoomBy(Math.exp(-event.deltaY * (event.deltaMode ? .06 : .002)), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });

    let dragged = null;
    root.addEventListener("pointerdown", (event) => {
      if (event.button === 0) dragged = { x: event.clientX, y: event.clientY, left: view.left, top: view.top, moved: false };
    });
    root.addEventListener("pointermove", (event) => {
      if (!dragged || view.zoom === 1) return;
      const [dx, dy] = [event.clientX - dragged.x, event.clientY - dragged.y];
      if (!dragged.moved && Math.hypot(dx, dy) < 5) return;
      if (!dragged.moved) root.setPointerCapture(event.pointerId);
      dragged.moved = true;
      [view.left, view.top] = [dragged.left + dx, dragged.top + dy];
      move();
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      root.addEventListener(end, () => setTimeout(() => { dragged = null; }));
    }
    root.addEventListener("click", (event) => {
      if (event.target.classed && !(dragged && dragged.moved)) onSelect(event.target.classed.number);
    });

    const observer = new ResizeObserver(([entry]) => {
      const box = entry.contentRect;
      if (!box.width || (box.width === width && box.height === height)) return;
      [width, height] = [box.width, box.height];
      place();
    });
    observer.observe(root);

    const button = (text, label, factor) =>
      element("button", { type: "button", "aria-label": label, onclick: () => zoomBy(factor) }, text);
    const sample = (kind, text) => element("span", null, element("i", { class: kind }), text);
    const node = element("div", { class: "map-box" },
      element("div", { class: "map-frame" }, root,
        element("div", { class: "map-zoom", role: "group", "aria-label": "Zoom" },
          button("+", "Zoom in", 1.6), button("−", "Zoom out", 1 / 1.6), button("Reset", "Reset the zoom", 1 / CLOSEST))),
      hint,
      element("p", { class: "legend map-legend" }, sample("follows", "what follows"), sample("before", "what comes before"),
        element("span", null, "area: how much of the text the class covers")));
    return { node, select, done: () => { observer.disconnect(); cancelAnimationFrame(scheduled); } };
  }

  /* ---- One class ---- */

  const SHOWN = 25;

  function wordsOfClass(answer, params) {
    const box = element("div");
    const wanted = Number.parseFloat(params.lambda);
    let lambda = wanted >= 0 && wanted <= 1 ? wanted : 1;
    let all = false;
    const relevance = (member) => lambda * Math.log2(member.probability)
      + (1 - lambda) * Math.log2(member.probability / (member.frequency || member.probability));
    const output = element("output", { for: "lambda" });
    const slider = element("input", { type: "range", id: "lambda", min: 0, max: 1, step: .05, value: lambda, oninput: () => {
      lambda = Number(slider.value);
      explorer.replace("classes", { ...explorer.place().params, lambda: lambda === 1 ? undefined : lambda });
      draw();
    } });
    const list = element("div");
    const more = element("button", { type: "button", onclick: () => { all = !all; draw(); } });
    function draw() {
      output.textContent = lambda.toFixed(2);
      const scores = new Map(answer.members.map((member) => [member, relevance(member)]));
      // Equal scores: what is more frequent comes first, whatever the slider says.
      const members = [...answer.members].sort((a, b) => {
        const difference = scores.get(b) - scores.get(a);
        return Math.abs(difference) > 1e-9 ? difference : b.probability - a.probability;
      });
      list.replaceChildren(bars((all ? members : members.slice(0, SHOWN)).map((member) => ({
        name: explorer.wordLink(member.word),
        value: member.probability,
        ground: member.frequency || 0,
        detail: `${explorer.percent(member.probability)} of the class, ${explorer.percent(member.frequency)} of all words`,
      })), "Words of the class"));
      more.textContent = all ? "Fewer words" : `All ${explorer.count(members.length)} words`;
      more.hidden = members.length <= SHOWN;
    }
    draw();
    box.append(
      element("p", { class: "cl-field cl-slider" }, element("label", { for: "lambda" }, "Relevance λ"), slider, output),
      element("p", { class: "note" }, "1: the most frequent words first; 0: the words most peculiar to the class."),
      list,
      element("p", { class: "legend" }, element("span", null, element("i", { class: "in-class" }), "in the class"),
        element("span", null, element("i", { class: "in-text" }), "in all text")),
      more,
      answer.words > answer.members.length
        && element("p", { class: "note" }, `The first ${explorer.count(answer.members.length)} of ${explorer.count(answer.words)} words.`) || "");
    return box;
  }

  const links = (source, rows, label) => bars(rows.map((row) => ({
    name: explorer.classLink(source, row.number, joined(row.top.slice(0, 3))),
    value: row.probability, detail: `class ${row.number}`,
  })), label);

  function describe(answer, source, params) {
    const heading = element("h3", { id: "class-title", tabindex: "-1" }, `Class ${answer.number}`);
    const part = (title, ...content) => [element("h4", null, title), ...content];
    const facts = [`${explorer.count(answer.words)} words`, `${explorer.percent(answer.tokens)} of the text`,
      `${explorer.bits(answer.bits)} bits about the next class`];
    return [
      heading,
      element("p", { class: "note" }, facts.join(" · ")),
      wordsOfClass(answer, params),
      answer.followers.length && part("What follows", links(source, answer.followers, "Classes that follow")),
      answer.before.length && part("What comes before", links(source, answer.before, "Classes that come before")),
      answer.nearest.length && part("Nearest classes", element("ul", { class: "cl-list" }, answer.nearest.map((near) =>
        element("li", null, explorer.classLink(source, near.number, joined(near.top.slice(0, 4))))))),
      element("p", null, element("a", { href: explorer.href("tree", { source, class: answer.number }) }, "Its place in the tree of classes")),
    ];
  }

  /** The same map as a list, for whoever does not see it. It is made when it is opened. */
  function asList(data, source) {
    const listed = data.classes.filter((each) => !data.special.includes(each.number));
    const box = element("details", { class: "map-list" }, element("summary", null, listed.length === data.n
      ? `All ${explorer.count(data.n)} classes as a list`
      : `The ${explorer.count(listed.length)} of ${explorer.count(data.n)} classes that occur, as a list`));
    box.addEventListener("toggle", () => {
      if (box.children.length > 1) return;
      const rows = listed.sort((a, b) => b.tokens - a.tokens);
      box.append(element("ul", { class: "cl-list" }, rows.map((each) => element("li", null,
        explorer.classLink(source, each.number, joined(each.top)), ` ${explorer.percent(each.tokens)}`))));
    });
    return box;
  }

  explorer.register({
    name: "classes",
    title: "Class map",
    about: "Classes near to each other are used alike. Select one to see its words.",
    available: (model) => model.classes.length > 0,
    async render(root, params) {
      const sources = explorer.info.models[explorer.model].classes;
      const source = explorer.chosen(sources, params.source);
      const model = explorer.model;
      const data = await explorer.api("classes", { model, source: source.source });
      if (!root.isConnected) return null;
      const newest = explorer.latest();
      const panel = element("section", { class: "cl-panel", "aria-label": "The selected class" });

      async function open(number) {
        map.select(number);
        try {
          const answer = await newest(explorer.api("class", { model, source: source.source, number }));
          const parts = element("div", null, describe(answer, source.source, explorer.place().params));
          panel.replaceChildren(...parts.childNodes);
          explorer.status(`Class ${number}: ${answer.members.slice(0, 5).map((member) => member.word).join(", ")}`);
        } catch (problem) {
          explorer.error(panel, problem);
        }
      }

      const map = drawMap(data, `${model} ${source.source}`, (number) => {
        // The map stays as it is (focus, zoom): only the place and the panel change. Going back draws it anew.
        const target = explorer.href("classes", { ...explorer.place().params, source: source.source, class: number });
        if (location.hash !== target) history.pushState(null, "", target);
        open(number);
      });
      root.append(
        explorer.sourceSelect(sources, source, "classes"),
        element("div", { class: "cl-columns" }, map.node, panel),
        asList(data, source.source));
      const number = Number(params.class);
      if (params.class !== undefined && data.classes.some((each) => each.number === number)) await open(number);
      else panel.append(element("p", { class: "note" }, "No class is selected."));
      explorer.keepFocus(root, "classes", panel.querySelector("h3"));
      return map.done;
    },
  });
})();
