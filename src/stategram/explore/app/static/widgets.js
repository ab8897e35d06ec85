(() => {
  "use strict";
  /* What several views show: lists of words, bars, concordance lines, fields for texts and words. */
  const { element, word, percent, count } = explorer;
  const PAUSE = 250;
  const TYPING = 150;
  const SUGGESTED = 8;
  const TEXT_KEPT = "stategram explorer: text";
  const SHORT_TEXT = 4000; // Characters; longer text is scored when asked to, not at every pause.
  let boxes = 0;

  /** Return words as nodes, set apart by middle dots. */
  explorer.joined = (words) => words.flatMap((text, index) => (index ? [" · ", word(text)] : [word(text)]));

  explorer.plural = (number, one, many) => `${count(number)} ${number === 1 ? one : many || one + "s"}`;

  /* ---- Sources of classes and states ---- */

  /** Return the source that the place names, or the first one. */
  explorer.chosen = (sources, source) => sources.find((each) => each.source === source) || sources[0];

  /** Return a select of the sources, or nothing if there is nothing to choose. */
  explorer.sourceSelect = (sources, current, view) => {
    if (sources.length < 2) return "";
    const select = element("select", { id: "source", onchange: () => explorer.go(view, { source: select.value }) },
      sources.map((each) => element("option", { value: each.source, selected: each === current }, each.title)));
    return element("p", { class: "cl-field" }, element("label", { for: "source" }, "Part of the model"), select);
  };

  /** Following a link inside a view draws the view anew: move the focus to what was asked for then, if the link
      had it. Call it at the end of every rendering. */
  let followed = null;
  explorer.keepFocus = (root, view, heading) => {
    root.addEventListener("click", (event) => {
      const link = event.target.closest && event.target.closest("a[href]");
      if (link && link.getAttribute("href").startsWith("#/" + view)) followed = view;
    });
    if (followed === view && heading) {
      heading.focus({ preventScroll: true });
      const { top, bottom } = heading.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight) heading.scrollIntoView({ block: "nearest" });
    }
    followed = null;
  };
  explorer.follow = (view) => { followed = view; };

  /* ---- Bars and lines ---- */

  /** Return a list of bars, the longest of which fills its room. A row: {name (nodes), value, ground (a grey bar),
      text, detail, marked}; without a text the value is a probability. */
  explorer.bars = (rows, label) => {
    const longest = Math.max(...rows.map((row) => Math.max(row.value, row.ground || 0)), 1e-12);
    const width = (value) => `width:${(100 * value / longest).toFixed(2)}%`;
    return element("ul", { class: "cl-bars", "aria-label": label }, rows.map((row) => element("li", { title: row.detail, class: row.marked && "marked" },
      element("span", { class: "cl-name" }, row.name),
      element("span", { class: "cl-bar", "aria-hidden": "true" },
        row.ground !== undefined && element("i", { class: "ground", style: width(row.ground) }),
        element("i", { style: width(row.value) })),
      element("span", { class: "cl-number" }, row.text === undefined ? percent(row.value) : row.text))));
  };

  /** Fractions of a whole as one bar with a legend. */
  explorer.stack = (titles, fractions) => {
    const shown = titles.map((title, index) => ({ title, fraction: fractions[index], colour: `var(--series-${1 + (index % 8)})` }));
    const text = shown.map(({ title, fraction }) => `${title} ${percent(fraction)}`).join(", ");
    return element("div", { class: "stack" },
      element("div", { class: "stacked", role: "img", "aria-label": text }, shown.map(({ fraction, colour }) =>
        element("i", { style: `width: ${(100 * fraction).toFixed(2)}%; background: ${colour}` }))),
      element("ul", { class: "key" }, shown.map(({ title, fraction, colour }) => element("li", null,
        element("i", { style: `background: ${colour}` }),
        element("span", null, title), element("span", { class: "number" }, percent(fraction))))));
  };

  /** Return lines of a text around some words. A line: {left, here (nodes), right, number (nodes), kind}. */
  explorer.concordance = (lines) => element("ol", { class: "concordance", tabindex: "0", "aria-label": "Concordance" },
    lines.map((line) => element("li", null,
      element("span", { class: "left" }, word(line.left)),
      element("span", { class: "here" }, line.here),
      element("span", { class: "right" }, word(line.right)),
      element("span", { class: `number ${line.kind || ""}` }, line.number))));

  /* ---- Fields ---- */

  function keptText() {
    const { sample, saved } = explorer.info;
    if (saved) return sample;
    try {
      return sessionStorage.getItem(TEXT_KEPT) ?? sample;
    } catch {
      return sample; // Storage may be refused to pages opened from a file.
    }
  }

  function keepText(text) {
    try {
      sessionStorage.setItem(TEXT_KEPT, text);
    } catch {
      // Too long, or no storage: the text is then forgotten with the page.
    }
  }

  /** A text area whose text is handed to score(text): after a pause, with Ctrl+Enter and by the button. */
  explorer.textBox = (label, action, score) => {
    const { saved, sample } = explorer.info;
    const run = () => {
      later.cancel();
      keepText(area.value);
      score(area.value);
    };
    const later = explorer.debounce(run, PAUSE);
    const area = element("textarea", {
      id: "text", rows: 5, spellcheck: "false", autocomplete: "off", dir: "auto", "aria-describedby": "text-hint",
      placeholder: "Paste some text here, one sentence per line.", readonly: saved,
      oninput: () => { if (area.value.length <= SHORT_TEXT) later(); },
      onkeydown: (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        run();
      },
    });
    area.value = keptText();
    const hint = saved
      ? "This is a saved page: it holds this text only. Run stategram explore to score your own."
      : "One sentence per line, words parted by spaces, as the model was trained.";
    const node = element("form", { class: "text-box", onsubmit: (event) => { event.preventDefault(); run(); } },
      element("label", { for: "text" }, label),
      area,
      element("div", { class: "actions" },
        !saved && element("button", { type: "submit", class: "primary" }, action),
        !saved && element("kbd", null, "Ctrl+Enter"),
        !saved && sample && element("button", { type: "button", onclick: () => {
          area.value = sample;
          run();
        } }, "Sample text"),
        element("p", { class: "note", id: "text-hint" }, hint)));
    return { node, area, run, cancel: later.cancel };
  };

  /** A text field that suggests words while one types (ARIA combobox with a list).
      complete(value) promises [{word, note}]; take(word) is given the one chosen; enter() follows Enter without. */
  explorer.combobox = ({ label, hint, value, placeholder, complete, take, input, enter }) => {
    const id = `suggest-${++boxes}`;
    const newest = explorer.latest();
    let options = [];
    let active = -1;
    const list = element("ul", { role: "listbox", id: `${id}-list`, "aria-label": `Suggestions: ${label}`, hidden: true });
    const field = element("input", {
      type: "text", id, role: "combobox", autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "auto",
      "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": `${id}-list`,
      "aria-describedby": hint && `${id}-hint`, placeholder,
      oninput: () => { if (input) input(field.value); suggest(); },
      onfocus: () => suggest(),
      onblur: () => { suggest.cancel(); close(); },
      onkeydown: keys,
    });
    field.value = value || "";

    function close() {
      newest(Promise.resolve()); // An answer still under way must not open the list again.
      list.hidden = true;
      mark(-1);
      field.setAttribute("aria-expanded", "false");
    }

    function mark(index) {
      active = index;
      [...list.children].forEach((node, each) => node.setAttribute("aria-selected", String(each === index)));
      if (index >= 0) field.setAttribute("aria-activedescendant", `${id}-${index}`);
      else field.removeAttribute("aria-activedescendant");
    }

    const suggest = explorer.debounce(async () => {
      const answer = await newest(complete(field.value)).catch(() => null);
      if (!answer || document.activeElement !== field) return;
      options = answer.words;
      list.replaceChildren(...options.map((option, index) => element("li", {
        role: "option", id: `${id}-${index}`, "aria-selected": "false",
        onmousedown: (event) => { event.preventDefault(); choose(index); },
      }, word(option.word), element("span", { class: "number" }, option.note))));
      list.hidden = !options.length;
      field.setAttribute("aria-expanded", String(!list.hidden));
      // After a letter the first suggestion is one key away; before one, Tab leaves the field as ever.
      mark(answer.begun && options.length ? 0 : -1);
    }, TYPING);

    function choose(index) {
      const { word: chosen } = options[index];
      close();
      take(chosen, field);
    }

    function keys(event) {
      if (event.isComposing) return;
      const open = !list.hidden;
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        if (!open) suggest();
        else if (event.key === "ArrowDown") mark((active + 1) % options.length);
        else mark(active > 0 ? active - 1 : options.length - 1);
      } else if (event.key === "Escape" && open) {
        event.preventDefault();
        close();
      } else if ((event.key === "Enter" || (event.key === "Tab" && !event.shiftKey)) && open && active >= 0) {
        event.preventDefault();
        choose(active);
      } else if (event.key === "Enter") {
        event.preventDefault();
        suggest.cancel();
        close();
        if (enter) enter(field);
      }
    }

    const node = element("div", { class: "combobox" },
      element("label", { for: id }, label),
      element("div", { class: "field" }, field, list),
      hint && element("p", { class: "note", id: `${id}-hint` }, hint));
    return { node, field };
  };

  /** Return the words that begin with some letters, the one that is typed first: Enter then keeps it. */
  explorer.suggestions = async (name, params, typed, note) => {
    const { words } = await explorer.api(name, { model: explorer.model, ...params, prefix: typed, top: SUGGESTED });
    const sorted = [...words].sort((a, b) => Number(b.word === typed) - Number(a.word === typed));
    return { words: sorted.map((each) => ({ word: each.word, note: percent(each[note]) })), begun: typed !== "" };
  };

  /** A field for a word of the vocabulary: take(word) is given what was chosen or typed. */
  explorer.wordBox = ({ label, value, placeholder, take }) => explorer.combobox({
    label, value, placeholder,
    complete: (typed) => (typed.trim() ? explorer.suggestions("words", {}, typed.trim(), "frequency") : { words: [], begun: false }),
    take, enter: (field) => take(field.value.trim()),
  });
})();
