(() => {
  "use strict";
  /* Ladder: the prediction after one history, from the unigram step by step to the whole model. */
  const { element, word, percent, count } = explorer;
  const PAUSE = 150;
  const SUGGESTED = 8;
  let boxes = 0;

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
    }, PAUSE);

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

  /** Put the word as typed first if it is among the suggestions: Enter then keeps it. */
  const typedFirst = (items, typed) =>
    [...items].sort((a, b) => Number(b.word === typed) - Number(a.word === typed));

  /* ---- The table ---- */

  function cell(watched, best) {
    const isBest = watched.probability === best && best > 0;
    const share = best > 0 ? 100 * watched.probability / best : 0;
    return element("span", { class: isBest ? "rung best" : "rung" },
      element("span", { class: "figure" }, percent(watched.probability),
        isBest && element("span", { class: "sr" }, " (best)")),
      element("span", { class: "track", "aria-hidden": "true" }, element("i", { style: `width: ${share.toFixed(1)}%` })),
      element("small", null, watched.rank === null ? "rank –" : `rank ${count(watched.rank)}`));
  }

  function draw(node, answer) {
    const names = answer.rows.length ? answer.rows[0].watched.map((each) => each.word) : [];
    const best = names.map((_, index) => Math.max(...answer.rows.map((row) => row.watched[index].probability)));
    const kind = { order: "n-gram", part: "part of the model", whole: "all parts together" };
    const columns = [
      { title: "Predicted by", value: (row) => [
        row.title,
        element("small", null, row.weight === null || row.weight === undefined
          ? kind[row.kind] : `${kind[row.kind]}, weight ${percent(row.weight)}`),
      ] },
      ...names.map((name, index) => ({
        title: name, style: "number", value: (row) => cell(row.watched[index], best[index]),
      })),
      { title: "Likeliest words", value: (row) => element("span", { class: "likeliest" }, row.top.map((item) =>
        element("span", { class: names.includes(item.word) && "marked" },
          explorer.wordLink(item.word), element("sub", null, percent(item.probability))))) },
    ];
    const table = explorer.table(columns, answer.rows, { caption: "From the unigram to the whole model" });
    table.querySelectorAll("thead th").forEach((head, index) => {
      if (index > 0 && index <= names.length) head.replaceChildren(word(names[index - 1]));
    });
    table.querySelectorAll("tbody tr").forEach((row, index) => row.classList.add(answer.rows[index].kind));
    node.replaceChildren(table, element("p", { class: "note" }, names.length
      ? "Bars compare the rows of a column; the best of each column is in bold. "
        + "Rank 1 is the likeliest word of all."
      : "Add a word above to follow its probability and rank down the table."));
  }

  /* ---- The view ---- */

  /** Begin with the first words of the text at hand and the word that really follows. */
  function example() {
    const words = explorer.info.sample.split("\n").map((line) => line.trim().split(/\s+/)).find((line) => line.length > 5);
    return words ? { history: words.slice(0, 4).join(" "), watched: words[4] } : { history: "", watched: "" };
  }

  function render(root, params) {
    const model = explorer.model;
    const newest = explorer.latest();
    const first = "history" in params || "watched" in params ? params : example();
    let history = first.history || "";
    const watched = [...new Set((first.watched || "").split(/\s+/).filter(Boolean))];
    const result = element("div", { class: "rungs" });
    const chips = element("ul", { class: "chips", "aria-label": "Watched words" });

    async function update() {
      explorer.replace("ladder", { model, history, watched: watched.join(" ") });
      result.classList.add("waiting");
      try {
        draw(result, await newest(explorer.api("ladder", { model, history: history.trim(), watched: [...watched] })));
      } catch (problem) {
        result.replaceChildren();
        explorer.error(result, problem);
      }
      result.classList.remove("waiting");
    }
    const later = explorer.debounce(update, 250);

    const historyBox = explorer.combobox({
      label: "History", value: history, placeholder: "the start of a sentence",
      hint: "The words so far. Suggestions are what the model expects next; Tab or Enter takes one.",
      complete: async (value) => {
        const [, before, typed] = /^(.*?)(\S*)$/s.exec(value);
        const answer = await explorer.api("predict", {
          model, history: before.trim().replace(/\s+/g, " "), top: SUGGESTED, prefix: typed,
        });
        const words = typedFirst(answer.words, typed).map((item) => ({ word: item.word, note: percent(item.probability) }));
        return { words, begun: typed !== "" };
      },
      input: (value) => { history = value.replace(/\s+/g, " "); later(); },
      take: (chosen, field) => {
        field.value = field.value.replace(/\S*$/, "") + chosen + " ";
        field.dispatchEvent(new Event("input"));
      },
      enter: () => { later.cancel(); update(); },
    });

    function drawChips() {
      chips.hidden = !watched.length;
      chips.replaceChildren(...watched.map((each) => element("li", null, word(each), element("button", {
        type: "button", "aria-label": `Stop watching ${each}`,
        onclick: () => {
          watched.splice(watched.indexOf(each), 1);
          drawChips();
          watchBox.field.focus();
          update();
        },
      }, "×"))));
    }

    function watch(text) {
      for (const each of text.trim().split(/\s+/)) if (each && !watched.includes(each)) watched.push(each);
      watchBox.field.value = "";
      drawChips();
      update();
    }

    const watchBox = explorer.combobox({
      label: "Watch a word", placeholder: "add a word",
      complete: async (value) => {
        const prefix = value.trim();
        if (!prefix) return { words: [], begun: false };
        const answer = await explorer.api("words", { model, prefix, top: SUGGESTED });
        const words = typedFirst(answer.words, prefix).map((item) => ({ word: item.word, note: percent(item.frequency) }));
        return { words, begun: true };
      },
      take: (chosen) => watch(chosen),
      enter: (field) => watch(field.value),
    });

    drawChips();
    root.append(
      element("div", { class: "asking" }, historyBox.node, element("div", null, watchBox.node, chips)), result);
    update();
    return later.cancel;
  }

  explorer.register({
    name: "ladder", title: "Ladder", render,
    about: "What each part of the model expects after a history, from the plain frequency of words up to all of it.",
  });
})();
