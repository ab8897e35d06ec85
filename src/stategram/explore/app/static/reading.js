(() => {
  "use strict";
  /* Reading: a text whose words are tinted by how surprising they are to the model. */
  const { element, word, bits, percent, count } = explorer;

  const END = "</s>";
  const BANDS = [
    ["1", (rank) => rank === 1],
    ["2–10", (rank) => rank >= 2 && rank <= 10],
    ["11–100", (rank) => rank >= 11 && rank <= 100],
    ["101–1,000", (rank) => rank >= 101 && rank <= 1000],
    [">1,000", () => true],
  ];

  /** Hand the browser a file with this text. */
  explorer.download = (name, text) => {
    const address = URL.createObjectURL(new Blob([text], { type: "text/tab-separated-values;charset=utf-8" }));
    element("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
  };

  /* ---- The tinted text ---- */

  /** Return for a surprisal its place between -1 (as expected) and 1 (most surprising): clamped at 2.5 deviations. */
  function tint(scored) {
    const all = scored.sentences.flatMap((sentence) => sentence.surprisal).filter(Number.isFinite);
    const mean = all.reduce((sum, value) => sum + value, 0) / Math.max(1, all.length);
    const deviation = Math.sqrt(all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, all.length));
    const place = (value) => {
      if (!Number.isFinite(value)) return 1;
      return deviation ? Math.max(-1, Math.min(1, (value - mean) / (2.5 * deviation))) : 0;
    };
    return { place, mean, deviation };
  }

  function drawText(scored, scale) {
    const words = [];
    const sentences = scored.sentences.map((sentence, s) => element("div", {
      role: "group", class: "sentence", dir: "auto", "aria-label": `Sentence ${s + 1}`,
    }, sentence.words.map((text, p) => {
      const unknown = sentence.unknown[p];
      const place = scale.place(sentence.surprisal[p]);
      const name = text === END ? "end of sentence" : text;
      const node = element("span", {
        role: "option", tabindex: "-1", "aria-selected": "false", "data-index": words.length,
        class: `token ${place > 0 ? "surprising" : "expected"}${unknown ? " unknown" : ""}${text === END ? " end" : ""}`,
        style: `--tint: ${(100 * Math.abs(place)).toFixed(0)}%`,
        "aria-label": `${name}, ${bits(sentence.surprisal[p])} bits${unknown ? ", not in the vocabulary" : ""}`,
      }, word(text === END ? "¶" : text));
      words.push({ node, sentence: s, position: p });
      // The mark of the end never stands alone on a line.
      return [p > 0 && (text === END ? "\u00a0" : " "), node];
    })));
    const list = element("div", {
      role: "listbox", class: "tokens", "aria-label": "The text, word by word", "aria-orientation": "horizontal",
    }, sentences);
    return { list, words };
  }

  /* ---- What is known of one word ---- */

  function drawDetails(panel, scored, at, answer) {
    const sentence = scored.sentences[at.sentence];
    const text = sentence.words[at.position];
    const before = sentence.words.slice(0, at.position);
    const shown = text === END ? "end of sentence" : text;
    const tail = before.slice(-6).join(" ");
    const { parts } = answer;
    const facts = [
      ["Surprisal", `${bits(answer.surprisal)} bits`],
      ["Probability", percent(2 ** -answer.surprisal)],
      ["Rank", answer.rank === null ? "not among the first" : count(answer.rank)],
      ...(answer.order ? [["N-gram length", `${answer.order}`]] : []),
    ];
    const evidence = [...answer.evidence].sort((a, b) => Math.abs(b.bits) - Math.abs(a.bits)).slice(0, 8);
    panel.replaceChildren(element("div", null,
      element("h3", null, word(shown)),
      element("p", { class: "note" }, before.length
        ? ["after ", element("q", null, word((before.length > 6 ? "… " : "") + tail))] : "at the start of its sentence",
        explorer.info.models[explorer.model].looks_back && " (earlier sentences, which the colours know of, are left out here)"),
      answer.unknown && element("p", { class: "note" }, "Not in the vocabulary: scored as an unknown word."),
      explorer.facts(facts),
      element("h4", null, "Expected here"),
      explorer.bars(answer.expected.map((item) => ({
        name: explorer.wordLink(item.word), value: item.probability, marked: item.word === answer.word,
      })), "Expected words"),
      ...(parts.length > 1 ? [element("h4", null, "Which part said so"),
        explorer.stack(parts.map((part) => part.title), parts.map((part) => part.share))] : []),
      ...(evidence.length ? [element("h4", null, "Which contexts said so"),
        element("p", { class: "note" }, "Bits that the evidence of each adds on the way to the word."),
        element("dl", { class: "evidence" }, evidence.map((one) => [element("dt", null, one.title),
          element("dd", null, (one.bits > 0 ? "+" : "−") + bits(Math.abs(one.bits)))]))] : []),
      ...(answer.states && answer.states.length ? [element("h4", null, "State of the context"),
        element("ul", { class: "plain" }, answer.states.map((state) =>
          element("li", null, explorer.stateLink(state.source, state.number, state.text || undefined))))] : []),
      element("p", { class: "onward" },
        element("a", { href: explorer.href("ladder", {
          history: before.join(" "), watched: text === END ? undefined : text,
        }) }, "From unigram to whole model"),
        !answer.unknown && text !== END && element("a", { href: explorer.wordLink(answer.word).getAttribute("href") },
          "This word among the classes"))));
  }

  /* ---- The whole text ---- */

  function bands(ranks) {
    const counts = BANDS.map(() => 0);
    for (const rank of ranks.sentences.flat().filter((one) => one !== null)) {
      counts[BANDS.findIndex(([, holds]) => holds(rank))] += 1;
    }
    const total = Math.max(1, counts.reduce((sum, value) => sum + value, 0));
    return BANDS.map(([rank], index) => ({ rank, share: counts[index] / total, words: counts[index] }));
  }

  function drawRanks(figure, ranks) {
    const rows = bands(ranks);
    const late = ranks.sentences.flat().filter((one) => one === null).length;
    figure.replaceChildren(
      element("figcaption", null, element("h3", null, "How high each word was ranked"),
        element("p", null, "1 is the word the model held most likely.")),
      explorer.bars(rows.map(({ rank, share, words }) => ({
        name: rank, value: share, detail: `${count(words)} words`,
      })), "Words by rank"),
      late > 0 && element("p", { class: "note" }, `${count(late)} words were not ranked in time.`) || "");
  }

  function drawSummary(node, scored, scale, save) {
    const titles = scored.parts || [];
    const all = scored.sentences.flatMap((sentence) => sentence.shares || []);
    const shares = titles.map((_, part) => all.reduce((sum, each) => sum + each[part], 0) / Math.max(1, all.length));
    const facts = [
      ["Perplexity", bits(scored.perplexity)],
      ["Mean surprisal", `${bits(scale.mean)} bits`],
      ["Words", `${count(scored.events)}, ends of sentences included`],
      ["Unknown", count(scored.unknown)],
    ];
    node.replaceChildren(
      element("h3", null, "The whole text"),
      explorer.facts(facts),
      ...(scored.note ? [element("p", { class: "note" }, `Note: ${scored.note}.`)] : []),
      ...(all.length && titles.length > 1
        ? [element("h4", null, "Which part said so, on average"), explorer.stack(titles, shares)] : []),
      element("p", null, element("button", { type: "button", onclick: save }, "Download the table")));
  }

  function asTable(scored, ranks) {
    const lines = ["sentence\tposition\tword\tsurprisal_bits\torder\tunknown\trank"];
    scored.sentences.forEach((sentence, s) => sentence.words.forEach((text, p) => {
      const rank = ranks && ranks.sentences[s] ? ranks.sentences[s][p] : null;
      lines.push([s + 1, p + 1, text, sentence.surprisal[p], sentence.order[p], Number(sentence.unknown[p]),
        rank ?? ""].join("\t"));
    }));
    return lines.join("\n") + "\n";
  }

  function legend(scale) {
    const edge = (sign) => bits(Math.max(0, scale.mean + sign * 2.5 * scale.deviation));
    return element("p", { class: "scale" },
      element("span", null, `expected, ${edge(-1)} bits`),
      element("i", { "aria-hidden": "true" }),
      element("span", null, `surprising, ${edge(1)} bits`),
      element("span", { class: "token unknown" }, "unknown word"));
  }

  /* ---- The view ---- */

  function render(root, params) {
    const model = explorer.model;
    const newestScore = explorer.latest();
    const newestRanks = explorer.latest();
    const newestDetails = explorer.latest();
    const page = element("div", { class: "reading", hidden: true });
    const problems = element("div");
    const box = explorer.textBox("Your text", "Score", score);
    root.append(
      box.node, problems, page);

    let at = params.at; // Kept while the text changes, as long as there is such a word.

    async function score(text) {
      if (!text.trim()) {
        newestScore(Promise.resolve());
        newestRanks(Promise.resolve());
        page.hidden = true;
        return;
      }
      page.classList.add("waiting");
      try {
        show(text, await newestScore(explorer.api("score", { model, text })));
      } catch (problem) {
        explorer.error(problems, problem);
        page.hidden = true;
      }
      page.classList.remove("waiting");
    }

    function show(text, scored) {
      problems.replaceChildren();
      const scale = tint(scored);
      const { list, words } = drawText(scored, scale);
      const panel = element("aside", { class: "details", "aria-label": "The chosen word" });
      const figure = element("figure", { class: "ranks", hidden: true });
      const summary = element("div", { class: "summary" });
      let ranks = null;
      drawSummary(summary, scored, scale, () => explorer.download("surprisal.tsv", asTable(scored, ranks)));
      page.replaceChildren(
        element("div", { class: "beside" },
          element("div", { class: "page" }, legend(scale), list), panel),
        element("div", { class: "overall" }, summary, figure));
      page.hidden = false;
      explorer.status(`Perplexity ${bits(scored.perplexity)} over ${count(scored.events)} words.`);
      choosing(scored, list, words, panel);
      newestRanks(explorer.api("ranks", { model, text })).then((answer) => {
        ranks = answer;
        figure.hidden = false;
        drawRanks(figure, answer);
      }).catch((problem) => {
        figure.hidden = false;
        explorer.error(figure, problem);
      });
    }

    function choosing(scored, list, words, panel) {
      let chosen = -1;
      let explained = -1;

      async function explain(index) {
        if (index === explained || !words[index]) return;
        explained = index;
        const { sentence, position } = words[index];
        const { words: texts } = scored.sentences[sentence];
        try {
          const answer = await newestDetails(explorer.api("explain", {
            model, history: texts.slice(0, position).join(" "), word: texts[position],
          }));
          drawDetails(panel, scored, { sentence, position }, answer);
        } catch (problem) {
          panel.replaceChildren();
          explorer.error(panel, problem);
        }
      }

      function choose(index, focus) {
        if (!words[index]) return;
        if (words[chosen]) {
          words[chosen].node.setAttribute("tabindex", "-1");
          words[chosen].node.setAttribute("aria-selected", "false");
        }
        chosen = index;
        const { node, sentence, position } = words[index];
        node.setAttribute("tabindex", "0");
        node.setAttribute("aria-selected", "true");
        if (focus) node.focus();
        at = `${sentence + 1}.${position + 1}`;
        explorer.replace("reading", { model, at });
        explain(index);
      }

      const indexOf = (event) => {
        const token = event.target.closest(".token");
        return token ? Number(token.dataset.index) : -1;
      };
      const hover = explorer.debounce(explain, 60);
      list.addEventListener("mouseover", (event) => { if (indexOf(event) >= 0) hover(indexOf(event)); });
      list.addEventListener("mouseleave", () => hover(chosen));
      list.addEventListener("click", (event) => choose(indexOf(event), true));
      list.addEventListener("focusin", (event) => { if (indexOf(event) !== chosen) choose(indexOf(event)); });
      list.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const line = words[chosen].sentence;
        const start = (sentence) => words.findIndex((each) => each.sentence === sentence);
        const forward = getComputedStyle(words[chosen].node.parentNode).direction === "rtl" ? -1 : 1;
        const target = {
          ArrowRight: () => chosen + forward,
          ArrowLeft: () => chosen - forward,
          ArrowDown: () => start(line + 1),
          ArrowUp: () => start(line - 1),
          Home: () => 0,
          End: () => words.length - 1,
        }[event.key];
        if (!target) return;
        event.preventDefault();
        choose(target(), true);
      });

      const wanted = words.findIndex((each) => `${each.sentence + 1}.${each.position + 1}` === at);
      const hardest = words.reduce((best, each, index) => (surprisal(each) > surprisal(words[best]) ? index : best), 0);
      function surprisal({ sentence, position }) {
        return scored.sentences[sentence].surprisal[position];
      }
      choose(wanted >= 0 ? wanted : hardest);
    }

    score(box.area.value);
    return box.cancel;
  }

  explorer.register({
    name: "reading", title: "Reading", render,
    about: "How surprising is each word, given the words before it? Point at a word, or move with the arrow keys, to see "
      + "what the model expected instead.",
  });
})();
