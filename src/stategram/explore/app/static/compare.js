(() => {
  "use strict";
  /* Compare: the same text under two models, word by word. */
  const { element, word, bits, count } = explorer;
  const LISTED = 40;
  const AROUND = 6; // Words of its sentence shown on either side.
  const MANY_POINTS = 3000; // Beyond this SVG gets slow, and the scatter is drawn on a canvas.
  const CLASSES_LISTED = 12;
  const END = "</s>";

  const signed = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + bits(Math.abs(value));

  /** One point per word; gain is the bits that the second model saves. */
  function wordsOf(answer) {
    return answer.sentences.flatMap((sentence, s) => sentence.words.map((text, p) => ({
      text, s, p, a: sentence.a[p], b: sentence.b[p], gain: sentence.a[p] - sentence.b[p],
      unknown: sentence.unknown[p], number: sentence.class ? sentence.class[p] : null,
    }))).filter((each) => Number.isFinite(each.a) && Number.isFinite(each.b));
  }

  /* ---- Words in their sentences ---- */

  function concordance(answer, items) {
    if (!items.length) return element("p", { class: "note" }, "No words here.");
    const show = (text) => (text === END ? "¶" : text);
    const rows = items.slice(0, LISTED);
    return element("div", null,
      element("ol", { class: "concordance" }, rows.map((item) => {
        const { words } = answer.sentences[item.s];
        const left = words.slice(Math.max(0, item.p - AROUND), item.p).join(" ");
        const right = words.slice(item.p + 1, item.p + 1 + AROUND).map(show).join(" ");
        const place = explorer.href("reading", { at: `${item.s + 1}.${item.p + 1}` });
        return element("li", null,
          element("span", { class: "left" }, word(left)),
          element("a", { href: place, class: "here" }, word(show(item.text)),
            item.text === END && element("span", { class: "sr" }, "end of sentence")),
          element("span", { class: "right" }, word(right)),
          element("span", { class: `number ${item.gain > 0 ? "gain" : "loss"}` }, signed(item.gain),
            element("small", null, `${bits(item.a)} → ${bits(item.b)}`)));
      })),
      items.length > rows.length
        && element("p", { class: "note" }, `The first ${count(rows.length)} of ${count(items.length)} words.`));
  }

  /* ---- The scatter ---- */

  function drawScatter(container, names, points, brushed) {
    const top = Math.ceil(points.reduce((most, each) => Math.max(most, each.a, each.b), 1));
    const scale = { domain: [0, top], nice: false };
    return explorer.chart(container, (colour) => ({
      width: "container", height: 380, autosize: { type: "fit", contains: "padding" },
      layer: [
        {
          data: { values: [{ a: 0, b: 0 }, { a: top, b: top }] },
          mark: { type: "line", color: colour("--rule"), strokeDash: [4, 4] },
          encoding: {
            x: { field: "a", type: "quantitative", scale, title: `Bits under ${names[0]}` },
            y: { field: "b", type: "quantitative", scale, title: `Bits under ${names[1]}` },
          },
        },
        {
          data: { values: points.map(({ a, b, gain }) => ({ a, b, side: gain >= 0 ? "gain" : "loss" })) },
          params: [{ name: "brush", select: {
            type: "interval", mark: { fill: colour("--soft"), fillOpacity: 0.12, stroke: colour("--soft") },
          } }],
          mark: { type: "circle", size: 26, opacity: 0.55 },
          encoding: {
            x: { field: "a", type: "quantitative", scale },
            y: { field: "b", type: "quantitative", scale },
            color: {
              condition: { param: "brush", field: "side", type: "nominal", legend: null,
                scale: { domain: ["gain", "loss"], range: [colour("--accent"), colour("--warn")] } },
              value: colour("--ngram"),
            },
          },
        },
      ],
    }), {
      renderer: points.length > MANY_POINTS ? "canvas" : "svg",
      ready: (view) => {
        const tell = explorer.debounce((range) => brushed(range && range.a && range.b ? range : null), 60);
        view.addSignalListener("brush", (_, range) => tell(range));
      },
    });
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
      { title: "Words of the text", number: true, value: (row) => count(row.events) },
      { title: `Bits, ${names[0]}`, number: true, value: (row) => bits(row.a) },
      { title: `Bits, ${names[1]}`, number: true, value: (row) => bits(row.b) },
      { title: "Gain per word", number: true, value: (row) => gainBar(row.a - row.b, widest) },
    ], rows, { caption });
  }

  function byClass(answer) {
    const total = (row) => row.events * (row.a - row.b);
    const sorted = [...answer.by_class].sort((x, y) => total(y) - total(x));
    const shown = sorted.length <= 2 * CLASSES_LISTED
      ? sorted : [...sorted.slice(0, CLASSES_LISTED), ...sorted.slice(-CLASSES_LISTED)];
    const title = (row) => [
      answer.source === null || answer.source === undefined
        ? `class ${row.number}` : explorer.classLink(answer.source, row.number),
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
    const chart = element("div", { class: "vega", role: "img", "aria-label":
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
      const inside = (value, [low, high]) => value >= Math.min(low, high) && value <= Math.max(low, high);
      return gains.filter((each) => inside(each.a, range.a) && inside(each.b, range.b));
    }

    function showList() {
      const items = listed();
      heard.textContent = choice.value === "brushed" && !range
        ? "Drag a rectangle over the chart to list the words in it." : `${count(items.length)} words`;
      list.replaceChildren(concordance(answer, items));
    }

    const change = 100 * (after / before - 1);
    page.replaceChildren(
      element("dl", { class: "perplexities" },
        element("dt", null, "Perplexity of ", word(names[0])), element("dd", null, bits(before)),
        element("dt", null, "Perplexity of ", word(names[1])), element("dd", null, bits(after)),
        element("dt", null, "Change"), element("dd", null, `${signed(change)}%, ${signed(Math.log2(after / before))} bits per word`)),
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
        { title: "Frequency rank", value: (row) => row.band }, answer.by_frequency, names),
      ...(answer.by_class.length ? byClass(answer) : [])].filter(Boolean));
    showList();
    explorer.status(`Perplexity ${bits(before)} and ${bits(after)}.`);
    return drawScatter(chart, names, points, (brushedRange) => {
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
      element("p", { class: "lede" }, "Which words does one model predict better than the other?"),
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
        await draw(page, answer);
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
    available: (info) => info.models.length > 1
      || "Two models are needed to compare: run stategram explore with both.",
    render,
  });
})();
