// A small WebGL 2 scene: meshes with a pose, coloured per vertex or as a whole, some transparent, and an orbiting camera.

import { cross, dot, identity, length, lookAt, minus, multiply, normalized, perspective, plus, times } from "./algebra.js";

const VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 tint;
uniform mat4 clip, model;
uniform float behind;
out vec3 vNormal, vTint, vPlace;
void main() {
  vec4 world = model * vec4(place, 1.0);
  vPlace = world.xyz;
  vNormal = mat3(model) * normal;
  vTint = tint;
  gl_Position = clip * world;
  gl_Position.z += behind * gl_Position.w;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec3 vNormal, vTint, vPlace;
uniform vec3 eye;
uniform float alpha, glow;
out vec4 colour;
void main() {
  vec3 view = normalize(eye - vPlace);
  vec3 n = normalize(vNormal);
  if (dot(n, view) < 0.0) n = -n;
  vec3 lamp = normalize(vec3(0.35, -0.5, 0.85));
  float light = 0.45 + 0.4 * max(dot(n, lamp), 0.0) + 0.15 * max(dot(n, view), 0.0);
  float shine = 0.25 * pow(max(dot(reflect(-lamp, n), view), 0.0), 24.0);
  float rim = alpha < 1.0 ? 0.6 * pow(1.0 - abs(dot(n, view)), 2.0) : 0.0;
  colour = vec4(vTint * mix(light, 1.0, glow) + shine * (1.0 - glow), min(1.0, alpha + rim));
}`;

/** Shown in place of the scene; without WebGL nothing is drawn, and everything else works. */
const NO_SCENE = "This browser has no WebGL 2, so the 3-D scene is not drawn. All numbers and images are computed as usual.";

/** Limits of the camera's distance, by that at which everything is visible. */
const MIN_ZOOM = 0.2;
const MAX_ZOOM = 3;

/** Depth (of −1 … 1) by which transparent meshes lie behind others: less than a hundredth of what the camera frames. */
const BEHIND = 1.5e-4;

/** Normals of vertices, weighted by area; `split` gives every triangle its own corners, for sharp edges. */
export function shaded(positions, triangles, split) {
  if (split) {
    const flat = new Float32Array(triangles.length * 3);
    triangles.forEach((corner, i) => flat.set(positions.subarray(3 * corner, 3 * corner + 3), 3 * i));
    return { ...shaded(flat, Int32Array.from(triangles.keys()), false), triangles: null };
  }
  const normals = new Float32Array(positions.length);
  const at = (i) => [positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]];
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [at(triangles[t]), at(triangles[t + 1]), at(triangles[t + 2])];
    const n = cross(minus(b, a), minus(c, a));
    for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) normals[3 * triangles[t + k] + i] += n[i];
  }
  for (let i = 0; i < normals.length; i += 3) {
    const size = Math.hypot(normals[i], normals[i + 1], normals[i + 2]) || 1;
    for (let k = 0; k < 3; k++) normals[i + k] /= size;
  }
  return { positions, normals, triangles };
}

/** Draws meshes; call `render` after a change. */
export class Scene {
  constructor(canvas) {
    this.canvas = canvas;
    this.gl = canvas.getContext("webgl2", { antialias: false, alpha: false, powerPreference: "high-performance" });
    if (this.gl) this.program = link(this.gl);
    else canvas.after(Object.assign(document.createElement("p"), { className: "no-scene", textContent: NO_SCENE }));
    this.uniforms = new Map();
    this.meshes = new Map();
    /** Rendered pixels per screen pixel; lower during motion on a slow machine. */
    this.resolution = 1;
    this.background = [1, 1, 1];
    this.view = { azimuth: -60, elevation: 28, distance: 90, target: [0, 0, 2] };
  }

  /** Adds or replaces a mesh. `tint` is one colour or one colour per vertex (0–255). The inside of a `closed` mesh is not drawn. */
  put(name, { positions, triangles, tint, alpha = 1, glow = 0, sharp = false, closed = false, pose = identity() }) {
    this.remove(name);
    const gl = this.gl;
    if (!gl) return;
    const shape = shaded(positions, triangles, sharp);
    const mesh = { alpha, glow, closed, pose, count: shape.triangles ? shape.triangles.length : shape.positions.length / 3, buffers: [] };
    mesh.vertices = shape.positions.length / 3;
    mesh.array = gl.createVertexArray();
    gl.bindVertexArray(mesh.array);
    const attribute = (index, data) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(index);
      gl.vertexAttribPointer(index, 3, gl.FLOAT, false, 0, 0);
      mesh.buffers.push(buffer);
    };
    attribute(0, shape.positions);
    attribute(1, shape.normals);
    attribute(2, tints(tint, mesh.vertices));
    if (shape.triangles) {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, new Uint32Array(shape.triangles), gl.STATIC_DRAW);
      mesh.buffers.push(buffer);
      mesh.indexed = true;
    }
    gl.bindVertexArray(null);
    this.meshes.set(name, mesh);
  }

  /** Changes the vertex colours of a mesh that is not sharp. */
  paint(name, tint) {
    const mesh = this.meshes.get(name);
    if (!mesh) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, mesh.buffers[2]);
    this.gl.bufferSubData(this.gl.ARRAY_BUFFER, 0, tints(tint, mesh.vertices));
  }

  place(name, pose) {
    const mesh = this.meshes.get(name);
    if (mesh) mesh.pose = pose;
  }

  hide(name, hidden) {
    const mesh = this.meshes.get(name);
    if (mesh) mesh.hidden = hidden;
  }

  remove(name) {
    const mesh = this.meshes.get(name);
    if (!mesh) return;
    mesh.buffers.forEach((buffer) => this.gl.deleteBuffer(buffer));
    this.gl.deleteVertexArray(mesh.array);
    this.meshes.delete(name);
  }

  clear() {
    [...this.meshes.keys()].forEach((name) => this.remove(name));
  }

  /** Distance from the camera to its target; larger for narrow images. */
  distance() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return this.view.distance * Math.max(1, (0.9 * height) / Math.max(1, width));
  }

  /** Position and axes of the camera. */
  camera() {
    const { azimuth, elevation, target } = this.view;
    const distance = this.distance();
    const [a, e] = [(azimuth * Math.PI) / 180, (elevation * Math.PI) / 180];
    const toEye = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
    const eye = plus(target, times(toEye, distance));
    const right = normalized(cross([0, 0, 1], toEye));
    return { eye, right, up: cross(toEye, right), toEye, fovy: 0.6 };
  }

  /** Points the camera at a box so that all of it is visible. */
  frame(low, high) {
    this.view.target = times(plus(low, high), 0.5);
    this.view.distance = Math.max(1e-6, length(minus(high, low))) * 1.75;
    this.view.nearest = this.view.distance * MIN_ZOOM;
    this.view.farthest = this.view.distance * MAX_ZOOM;
  }

  /** Multiplies the distance of the camera, within limits of that of the last frame. */
  zoom(factor) {
    const { distance, nearest = 0, farthest = Infinity } = this.view;
    this.view.distance = Math.min(farthest, Math.max(nearest, distance * factor));
  }

  /** Converts a pointer motion (pixels) to a displacement in the plane of the sensor. */
  onPlane(dx, dy) {
    const { right, up, fovy } = this.camera();
    const scale = (2 * Math.tan(fovy / 2) * this.distance()) / this.canvas.clientHeight;
    const flat = (v) => normalized([v[0], v[1], 0]);
    const [r, u] = [flat(right), flat(up)];
    return [scale * (dx * r[0] - dy * u[0]), scale * (dx * r[1] - dy * u[1])];
  }

  /** Position of a point on the rendered canvas (CSS pixels). */
  project([x, y, z]) {
    const [left, down, , w] = [0, 1, 2, 3].map((row) => this.clip[row] * x + this.clip[4 + row] * y + this.clip[8 + row] * z + this.clip[12 + row]);
    return [(0.5 + (0.5 * left) / w) * this.canvas.clientWidth, (0.5 - (0.5 * down) / w) * this.canvas.clientHeight];
  }

  /** Size of a pixel (mm). */
  scale() {
    return (2 * Math.tan(this.camera().fovy / 2) * this.distance()) / this.canvas.clientHeight;
  }

  render() {
    const { gl, canvas } = this;
    if (!gl) return;
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1) * this.resolution;
    const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(...this.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.enable(gl.DEPTH_TEST);
    const { eye, toEye, fovy } = this.camera();
    const far = this.distance() * 20;
    const clip = multiply(perspective(fovy, width / height, far * 0.001, far), lookAt(eye, this.view.target, [0, 0, 1]));
    const uniform = (name) => {
      if (!this.uniforms.has(name)) this.uniforms.set(name, gl.getUniformLocation(this.program, name));
      return this.uniforms.get(name);
    };
    this.clip = clip;
    gl.uniformMatrix4fv(uniform("clip"), false, clip);
    gl.uniform3fv(uniform("eye"), eye);
    const depth = (mesh) => dot(mesh.pose.slice(12, 15), toEye);
    const all = [...this.meshes.values()];
    const solid = all.filter((mesh) => mesh.alpha >= 1 && !mesh.hidden);
    const clear = all.filter((mesh) => mesh.alpha < 1 && !mesh.hidden).sort((a, b) => depth(a) - depth(b));
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.cullFace(gl.BACK);
    for (const mesh of solid) {
      gl[mesh.closed ? "enable" : "disable"](gl.CULL_FACE);
      this.#draw(mesh, uniform);
    }
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.enable(gl.CULL_FACE);
    // Back faces first, so that transparent meshes look solid.
    for (const face of [gl.FRONT, gl.BACK]) {
      gl.cullFace(face);
      gl.depthMask(face === gl.BACK);
      clear.forEach((mesh) => this.#draw(mesh, uniform));
    }
    gl.disable(gl.CULL_FACE);
    gl.depthMask(true);
  }

  #draw(mesh, uniform) {
    const gl = this.gl;
    gl.uniformMatrix4fv(uniform("model"), false, mesh.pose);
    gl.uniform1f(uniform("alpha"), mesh.alpha);
    gl.uniform1f(uniform("glow"), mesh.glow);
    // A pressed object and the skin have one surface in contact: that of the skin is drawn.
    gl.uniform1f(uniform("behind"), mesh.alpha < 1 ? BEHIND : 0);
    gl.bindVertexArray(mesh.array);
    if (mesh.indexed) gl.drawElements(gl.TRIANGLES, mesh.count, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
  }
}

function tints(tint, vertices) {
  if (tint.length === 3 && vertices !== 1) {
    const all = new Float32Array(3 * vertices);
    for (let i = 0; i < all.length; i++) all[i] = tint[i % 3] / 255;
    return all;
  }
  return Float32Array.from(tint, (part) => part / 255);
}

function link(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return program;
}
