// Messages to the user.

/** Time (ms) for which a button says that it has copied. */
const COPIED_MS = 1500;
const $ = (id) => document.getElementById(id);

/** Shows or clears a message; a message about a press is cleared by the next successful press. */
export function say(text, about = "") {
  $("message").dataset.about = about;
  $("message").textContent = text;
  $("message").hidden = !text;
}

/** Says how a number that was typed or asked for was changed; without a text, the sentence about the number before is removed. */
export function noted(text) {
  if (text) say(text, "number");
  else if ($("message").dataset.about === "number") say("");
}

/** Adds a sentence about a number to the message. */
export function also(text) {
  say([$("message").textContent, text].filter(Boolean).join(" "), "number");
}

/** Copies a text and says so on the button; `otherwise` is said where a page may not copy. */
export async function copied(button, text, otherwise) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return say(otherwise);
  }
  say("");
  $("status").textContent = "Copied";
  const label = (button.dataset.label ??= button.textContent);
  button.textContent = "Copied";
  clearTimeout(Number(button.dataset.timer));
  button.dataset.timer = setTimeout(() => ([button.textContent, $("status").textContent] = [label, ""]), COPIED_MS);
}
