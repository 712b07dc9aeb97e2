// Pointer, wheel and keyboard input.

/** The drag modes. */
export const MODES = [
  { mode: "move", label: "Move", hint: "Drag to move the object over the sensor." },
  { mode: "push", label: "Push", hint: "Drag down to push, up to lift." },
  { mode: "shear", label: "Shear", hint: "Drag to move the pressed object sideways: friction shears the skin." },
  { mode: "tilt", label: "Tilt", hint: "Drag to tilt the object." },
  { mode: "view", label: "View", hint: "Drag to rotate the view; wheel or pinch to zoom." },
];

/** Step of a key press (mm, °); ten times larger with Control. */
const STEP = { place: 0.25, depth: 0.05, angle: 1 };

/** Handles input on the canvas. `nudge(changes)` adds to the state, `mode()` is the drag mode. */
export function listen(canvas, view3d, mode, nudge) {
  const fingers = new Map();
  let spread = 0;

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    spread = distance(fingers);
  });
  const end = (event) => fingers.delete(event.pointerId);
  canvas.addEventListener("pointerup", end);
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointermove", (event) => {
    const last = fingers.get(event.pointerId);
    if (!last) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    if (fingers.size === 2) {
      const now = distance(fingers);
      zoom(spread / Math.max(1, now));
      spread = now;
      return orbit(dx / 2, dy / 2);
    }
    drag(event.buttons & 2 ? "view" : event.shiftKey ? "shear" : mode(), dx, dy);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(event.deltaY * 0.001));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const change = cameraKey(event) ? {} : keyed(event);
    if (!change) return;
    event.preventDefault();
    nudge(change);
  });

  function drag(what, dx, dy) {
    const [x, y] = view3d.scene.onPlane(dx, dy);
    if (what === "move") nudge({ x, y });
    else if (what === "shear") nudge({ shearX: x, shearY: y });
    else if (what === "push") nudge({ depth: dy * view3d.scene.scale() * 0.25 });
    else if (what === "tilt") nudge({ tiltX: -0.3 * (dx * across(1) - dy * across(0)), tiltY: 0.3 * (dx * across(0) + dy * across(1)) });
    else orbit(dx, dy);
  }

  /** Moves the camera if the key is one of its keys; the arrows are in the mode "view". */
  function cameraKey({ key, shiftKey, altKey }) {
    const arrows = mode() === "view" && !shiftKey && !altKey;
    const step = 20;
    const by = { j: [step, 0], l: [-step, 0], i: [0, step], k: [0, -step], ...(arrows && { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }) }[key];
    const closer = { "+": 0.9, "=": 0.9, "-": 1 / 0.9 }[key];
    if (by) orbit(...by);
    else if (closer) zoom(closer);
    else if (key === "Home") view3d.home();
    else return false;
    return true;
  }

  /** Component of the screen's right direction along the sensor's x or y axis. */
  function across(axis) {
    return view3d.scene.camera().right[axis];
  }

  function orbit(dx, dy) {
    const { view } = view3d.scene;
    view.azimuth -= dx * 0.4;
    view.elevation = Math.min(89, Math.max(-10, view.elevation + dy * 0.4));
    view3d.draw();
  }

  function zoom(factor) {
    view3d.scene.zoom(factor);
    view3d.draw();
  }
}

function distance(fingers) {
  const [a, b] = [...fingers.values()];
  return b ? Math.hypot(a[0] - b[0], a[1] - b[1]) : 0;
}

function keyed(event) {
  const far = event.ctrlKey || event.metaKey ? 10 : 1;
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (arrows) {
    const [x, y] = arrows;
    if (event.shiftKey) return { shearX: x * STEP.place * far, shearY: y * STEP.place * far };
    if (event.altKey) return { tiltX: -y * STEP.angle * far, tiltY: x * STEP.angle * far };
    return { x: x * STEP.place * far, y: y * STEP.place * far };
  }
  return {
    PageDown: { depth: STEP.depth * far }, PageUp: { depth: -STEP.depth * far },
    s: { depth: STEP.depth * far }, w: { depth: -STEP.depth * far },
    q: { yaw: STEP.angle * far }, e: { yaw: -STEP.angle * far },
  }[event.key];
}
