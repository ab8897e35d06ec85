(() => {
  "use strict";
  /* Compare: the same text under two models, word by word. */
  const { element, svg, word, bits, count } = explorer;
  const LISTED = 40;
  const AROUND = 6; // Words of its sentence shown on either side.
  const CLASSES_LISTED = 12;
  const END = "</s>";

  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + bits(Math.abs(value));

  /** One point per word; gain is the bits that the second model saves. */
  function wordsOf(answer) {
    return answer.sentences.flatMap((sentence, s) => sentence.words.map((text, p) => ({
      text, s, p, a: sentence.a[p], b: sentence.b[p], gain: sentence.a[p] - sentence.b[p],
      unknown: sentence.unknown[p],
    }))).filter((each) => Number.isFinite(each.a) && Number.isFinite(each.b));
  }

  /* ---- Words in their sentences ---- */

  function concordance(answer, items) {
    if (!items.length) return element("p", { class: "note" }, "No words here.");
    const show = (text) => (text === END ? "¶" : text);
    const rows = items.slice(0, LISTED);
    return element("div", null,
      explorer.concordance(rows.map((item) => {
        const { words } = answer.sentences[item.s];
        return {
          left: words.slice(Math.max(0, item.p - AROUND), item.p).join(" "),
          here: element("a", { href: explorer.href("reading", { at: `${item.s + 1}.${item.p + 1}` }) }, word(show(item.text)),
            item.text === END && element("span", { class: "sr" }, "end of sentence")),
          right: words.slice(item.p + 1, item.p + 1 + AROUND).map(show).join(" "),
          number: [signed(item.gain), element("small", null, `${bits(item.a)} → ${bits(item.b)}`)],
          kind: item.gain > 0 ? "gain" : "loss",
        };
      })),
      items.length > rows.length
        && element("p", { class: "note" }, `The first ${count(rows.length)} of ${count(items.length)} words.`));
  }

  /* ---- The scatter ---- */

  const PLOT = 360;
  const LEFT = 36;
  const LEAST = 5; // A rectangle that is smaller than this was a click.

  /** Draw each word as a point; brushed(range) hears of the rectangle dragged over them, or null. */
  function drawScatter(container, names, points, brushed) {
    const top = Math.ceil(points.reduce((most, each) => Math.max(most, each.a, each.b), 1));
    const x = (bitsA) => LEFT + PLOT * bitsA / top;
    const y = (bitsB) => PLOT * (1 - bitsB / top) + 8;
    const step = [1, 2, 5, 10, 20, 50].find((each) => top / each <= 8) || 100;
    const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, index) => index * step);
    const path = (kind, kept) => svg("path", { class: `points ${kind}`, d:
      points.filter(kept).map((each) => `M${x(each.a).toFixed(1)} ${y(each.b).toFixed(1)}h0`).join("") });
    const dots = svg("g");
    const brush = svg("rect", { class: "brush", width: 0, height: 0 });
    const root = svg("svg", { class: "scatter", viewBox: `0 0 ${LEFT + PLOT + 8} ${PLOT + 52}` },
      ticks.map((tick) => [
        svg("path", { class: "grid", d: `M${x(0)} ${y(tick)}H${x(top)}M${x(tick)} ${y(0)}V${y(top)}` }),
        svg("text", { x: x(tick), y: y(0) + 16, "text-anchor": "middle" }, tick),
        svg("text", { x: x(0) - 6, y: y(tick) + 4, "text-anchor": "end" }, tick)]),
      svg("path", { class: "diagonal", d: `M${x(0)} ${y(0)}L${x(top)} ${y(top)}` }),
      svg("text", { x: x(top), y: y(0) + 36, "text-anchor": "end" }, `bits under ${names[0]} →`),
      svg("text", { x: x(0) + 6, y: y(top) + 10 }, `↑ bits under ${names[1]}`),
      dots, brush);

    function draw(range) {
      const inside = ({ a, b }) => !range || (a >= range.a[0] && a <= range.a[1] && b >= range.b[0] && b <= range.b[1]);
      dots.replaceChildren(path("other", (each) => !inside(each)), path("gain", (each) => inside(each) && each.gain >= 0),
        path("loss", (each) => inside(each) && each.gain < 0));
    }

    let from = null;
    const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
    root.addEventListener("pointerdown", (event) => {
      from = at(event);
      for (const name of ["width", "height"]) brush.setAttribute(name, 0);
      root.setPointerCapture(event.pointerId);
    });
    root.addEventListener("pointermove", (event) => {
      if (!from) return;
      const to = at(event);
      const box = { x: Math.min(from.x, to.x), y: Math.min(from.y, to.y), width: Math.abs(to.x - from.x), height: Math.abs(to.y - from.y) };
      for (const [name, value] of Object.entries(box)) brush.setAttribute(name, value);
    });
    root.addEventListener("pointerup", () => {
      if (!from) return;
      from = null;
      const { x: left, y: high, width, height } = brush.getBBox();
      const bitsA = (place) => (place - LEFT) / PLOT * top;
      const bitsB = (place) => (1 - (place - 8) / PLOT) * top;
      const range = width < LEAST && height < LEAST ? null
        : { a: [bitsA(left), bitsA(left + width)], b: [bitsB(high + height), bitsB(high)] };
      if (!range) brush.setAttribute("width", 0);
      draw(range);
      brushed(range);
    });
    draw(null);
    container.replaceChildren(root);
  }

  /* ---- Who gains and who loses ---- */

  function gainBar(gain, widest) {
    const share = widest > 0 ? 50 * Math.min(1, Math.abs(gain) / widest) : 0;
    const side = gain > 0 ? "left: 50%" : `left: ${(50 - share).toFixed(1)}%`;
    return element("span", { class: `gain-bar ${gain > 0 ? "gain" : "loss"}` },
      element("span", { class: "track", "aria-hidden": "true" },
        element("i", { style: `${side}; width: ${share.toFixed(1)}%` })),
      element("span", { class: "figure" }, signed(gain)));
  }

  function gainTable(caption, first, rows, names) {
    const widest = Math.max(...rows.map((row) => Math.abs(row.a - row.b)), 0);
    return explorer.table([
      first,
      { title: "Words of the text", style: "number", value: (row) => count(row.events) },
      { title: `Bits, ${names[0]}`, style: "number", value: (row) => bits(row.a) },
      { title: `Bits, ${names[1]}`, style: "number", value: (row) => bits(row.b) },
      { title: "Gain per word", style: "number", value: (row) => gainBar(row.a - row.b, widest) },
    ], rows, { caption });
  }

  function byClass(answer) {
    const total = (row) => row.events * (row.a - row.b);
    const sorted = [...answer.by_class].sort((x, y) => total(y) - total(x));
    const shown = sorted.length <= 2 * CLASSES_LISTED
      ? sorted : [...sorted.slice(0, CLASSES_LISTED), ...sorted.slice(-CLASSES_LISTED)];
    const title = (row) => [
      explorer.classLink(answer.source, row.number),
      element("small", null, row.top.map((text, index) => [index > 0 && ", ", word(text)])),
    ];
    const note = shown.length < sorted.length
      && `The ${CLASSES_LISTED} classes that gain most in all and the ${CLASSES_LISTED} that lose most, `
      + `of ${count(sorted.length)}.`;
    return [gainTable("By class of the word", { title: "Class", value: title }, shown, answer.models),
      note && element("p", { class: "note" }, note)];
  }

  /* ---- The view ---- */

  function draw(page, answer) {
    const names = answer.models;
    const [before, after] = answer.perplexity;
    const points = wordsOf(answer);
    const gains = [...points].sort((x, y) => y.gain - x.gain);
    const chart = element("div", { class: "scatter-box", role: "img", "aria-label":
      `Bits of each word under ${names[0]} against ${names[1]}; below the diagonal ${names[1]} predicts better. `
      + "The lists that follow hold the same words." });
    const list = element("div");
    const heard = element("p", { class: "note", role: "status" });
    let range = null;
    const choice = element("select", { id: "listed", onchange: () => showList() },
      element("option", { value: "gains" }, "Largest gains"),
      element("option", { value: "losses" }, "Largest losses"),
      element("option", { value: "brushed" }, "Words marked in the chart"));

    function listed() {
      if (choice.value === "losses") return gains.filter((each) => each.gain < 0).reverse();
      if (choice.value === "gains") return gains.filter((each) => each.gain > 0);
      if (!range) return [];
      const inside = (value, [low, high]) => value >= low && value <= high;
      return gains.filter((each) => inside(each.a, range.a) && inside(each.b, range.b));
    }

    function showList() {
      const items = listed();
      heard.textContent = choice.value === "brushed" && !range
        ? "Drag a rectangle over the chart to list the words in it." : `${count(items.length)} words`;
      list.replaceChildren(concordance(answer, items));
    }

    page.replaceChildren(
      ...answer.tables.map(({ columns, rows, title }) => explorer.table(columns, rows, { caption: title })),
      ...(answer.left_out ? [element("p", { class: "note" },
        `Perplexities are without ${count(answer.left_out)} words that are unknown to at least one model.`)] : []),
      element("div", { class: "beside even" },
        element("figure", null,
          element("figcaption", null, element("h3", null, "Every word under both models"),
            element("p", null, `Below the dashed line `, word(names[1]), ` predicts the word better. Drag to mark words.`)),
          chart),
        element("div", null,
          element("h3", null, "Words in their sentences"),
          element("p", { class: "choice" }, element("label", { for: "listed" }, "Show"), choice),
          heard, list)),
      ...[answer.by_frequency.length && gainTable("By frequency of the word",
        { title: "Count in the training text", value: (row) => row.band }, answer.by_frequency, names),
      ...(answer.by_class.length ? byClass(answer) : [])].filter(Boolean));
    showList();
    explorer.status(`Perplexity ${bits(before)} and ${bits(after)}.`);
    drawScatter(chart, names, points, (brushedRange) => {
      range = brushedRange;
      if (range) choice.value = "brushed";
      showList();
    });
  }

  function render(root) {
    const newest = explorer.latest();
    const problems = element("div");
    const page = element("div", { class: "comparison", hidden: true });
    const box = explorer.textBox("Your text", "Compare", compare);
    root.append(
      box.node, problems, page);

    async function compare(text) {
      if (!text.trim()) {
        newest(Promise.resolve());
        page.hidden = true;
        return;
      }
      page.classList.add("waiting");
      try {
        const answer = await newest(explorer.api("compare", { text }));
        problems.replaceChildren();
        page.hidden = false;
        draw(page, answer);
      } catch (problem) {
        explorer.error(problems, problem);
        page.hidden = true;
      }
      page.classList.remove("waiting");
    }

    compare(box.area.value);
    return box.cancel;
  }

  explorer.register({
    name: "compare", title: "Compare",
    about: "Which words does one model predict better than the other?",
    available: () => explorer.info.models.length > 1,
    render,
  });
})();
