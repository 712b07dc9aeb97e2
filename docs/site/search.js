// Searches the texts of all pages; no server is needed, so that the guide works from a folder.
"use strict";

const [input, found, article] = [document.getElementById("search"), document.getElementById("found"), document.querySelector("article")];

/** Pages that contain all words, those with more of them first, each with the text around the first word. */
function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = [];
  for (const page of words.length ? PAGES : []) {
    const body = `${page.title} ${page.text}`.toLowerCase();
    if (!words.every((word) => body.includes(word))) continue;
    const count = words.reduce((sum, word) => sum + body.split(word).length - 1, 0);
    const named = words.filter((word) => page.title.toLowerCase().includes(word)).length;
    const at = Math.max(0, page.text.toLowerCase().indexOf(words[0]) - 60);
    hits.push({ page, score: count + 100 * named, around: page.text.slice(at, at + 180) });
  }
  return hits.sort((a, b) => b.score - a.score).slice(0, 12);
}

function show() {
  const text = input.value.trim();
  found.hidden = !text;
  article.hidden = Boolean(text);
  found.replaceChildren();
  for (const { page, around } of search(text)) {
    const link = Object.assign(document.createElement("a"), { href: document.body.dataset.up + page.url, textContent: page.title });
    const line = Object.assign(document.createElement("p"), { textContent: `… ${around} …` });
    found.append(link, line);
  }
  if (text && !found.childElementCount) found.append(`Nothing about “${text}”.`);
}

input.addEventListener("input", show);

// The contents are longer than most windows: the present page is shown in them.
document.querySelector("nav [aria-current]").scrollIntoView({ block: "nearest" });
