// Dark or light theme: follows the system until the button is pressed.

const system = matchMedia("(prefers-color-scheme: dark)");

/** Follows the system and the button; calls `changed` with whether it is dark. */
export function followTheme(button, changed) {
  let chosen = remembered();
  const apply = () => {
    const theme = chosen ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    button.setAttribute("aria-label", theme === "dark" ? "Light colours" : "Dark colours");
    changed(theme === "dark");
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("theme", chosen);
    } catch {
      // Storage may be disabled.
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

function remembered() {
  try {
    return localStorage.getItem("theme");
  } catch {
    return null;
  }
}
