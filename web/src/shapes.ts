// SPDX-License-Identifier: MIT
// The things of a scene as objects of three.js. Each knows how to move itself to a time.
import * as THREE from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { at, drawingTimes, type Series, type Thing } from "./data";
import type { Theme } from "./theme";

export interface Actor {
  thing: Thing;
  object: THREE.Object3D;
  /** Moves it to a time. */
  move(t: number): void;
  /** Takes the colours of a theme. */
  dress(theme: Theme): void;
  /** A body that can be made transparent, so that what is in it is seen. */
  clear?(on: boolean): void;
}

/** What is known of the whole scene before its things are made. */
export interface Frame {
  size: number; // of the bodies
  centre: THREE.Vector3; // of the motion
  spread: number; // how far it goes from there
  box: THREE.Box3; // of the motion
  from: number;
  to: number;
  ghost: boolean;
  arrowScale: Map<string, number>;
}

const E3 = new THREE.Vector3(0, 0, 1);

export function place(series: Series[] | undefined, t: number, out: THREE.Vector3): THREE.Vector3 {
  if (!series) return out.set(0, 0, 0);
  return out.set(at(series[0], t), at(series[1], t), series.length > 2 ? at(series[2], t) : 0);
}

/** Orientation of a thing: `turned`, or the axis as third direction with `mark` as first. */
function orient(thing: Thing, t: number, q: THREE.Quaternion): void {
  const turned = thing.args.turned;
  if (turned) {
    q.set(at(turned[1], t), at(turned[2], t), at(turned[3], t), at(turned[0], t)).normalize();
    return;
  }
  if (!thing.args.axis) {
    if (!thing.args.mark) q.identity();
    else {
      const m = place(thing.args.mark, t, new THREE.Vector3());
      q.setFromAxisAngle(E3, Math.atan2(m.y, m.x));
    }
    return;
  }
  const z = place(thing.args.axis, t, new THREE.Vector3()).normalize();
  if (!thing.args.mark) {
    q.setFromUnitVectors(E3, z);
    return;
  }
  const x = place(thing.args.mark, t, new THREE.Vector3());
  x.addScaledVector(z, -x.dot(z)).normalize();
  const y = new THREE.Vector3().crossVectors(z, x);
  q.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
}

function size(thing: Thing, name: string): number {
  const v = thing.args[name]?.[0];
  return typeof v === "number" ? v : v ? v.at(-Infinity) : 1;
}

// ---- materials ----

type Pattern = "octants" | "quarters" | "none";

/** Has each pixel of a material coloured by `text`, which reads its place in the object's own frame, vLocal, and what
 *  `declared` names of the uniforms. */
function colourByPlace(shader: THREE.WebGLProgramParametersWithUniforms, uniforms: object, declared: string, text: string): void {
  Object.assign(shader.uniforms, uniforms);
  shader.vertexShader = shader.vertexShader
    .replace("#include <common>", "#include <common>\nvarying vec3 vLocal;")
    .replace("#include <begin_vertex>", "#include <begin_vertex>\nvLocal = position;");
  shader.fragmentShader = shader.fragmentShader
    .replace("#include <common>", `#include <common>\nvarying vec3 vLocal;\n${declared}`)
    .replace("#include <color_fragment>", `#include <color_fragment>\n${text}`);
}

/** A solid in two shades, so that its turning is seen. */
class Skin extends THREE.MeshPhongMaterial {
  readonly second = { value: new THREE.Color() };

  constructor(pattern: Pattern, ghost: boolean) {
    super({ specular: 0x333333, shininess: 40, transparent: ghost, opacity: ghost ? 0.32 : 1 });
    this.depthWrite = !ghost;
    Object.assign(this, { polygonOffset: ghost, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }); // in one place: behind the first run
    if (pattern === "none") return;
    const product = pattern === "octants" ? "edge.x*edge.y*edge.z" : "edge.x*edge.y";
    this.onBeforeCompile = (shader) =>
      colourByPlace(
        shader,
        { second: this.second },
        "uniform vec3 second;",
        `vec3 edge = clamp(vLocal/max(fwidth(vLocal), vec3(1e-9)), -1.0, 1.0);
        diffuseColor.rgb = mix(diffuseColor.rgb, second, 0.5 - 0.5*(${product}));`,
      );
    this.customProgramCacheKey = () => `skin-${pattern}`;
  }

  paint(first: THREE.Color, second: THREE.Color): void {
    this.color.copy(first);
    this.second.value.copy(second);
  }
}

function mesh(geometry: THREE.BufferGeometry, material: THREE.Material): THREE.Mesh {
  const m = new THREE.Mesh(geometry, material);
  m.castShadow = true;
  m.receiveShadow = true;
  return m;
}

// ---- solids ----

/** A profile (distance from the axis, height) turned about the third axis. */
function lathe(grid: { rows: number; values: Float32Array }): THREE.BufferGeometry {
  const points: THREE.Vector2[] = [];
  for (let i = 0; i < grid.rows; i++) points.push(new THREE.Vector2(Math.max(0, grid.values[2 * i]), grid.values[2 * i + 1]));
  return new THREE.LatheGeometry(points, 64).rotateX(Math.PI / 2);
}

/** A closed surface given by rows of points, from pole to pole. */
function surface(grid: { rows: number; cols: number; values: Float32Array }): THREE.BufferGeometry {
  const g = new THREE.BufferGeometry();
  g.setAttribute("position", new THREE.BufferAttribute(grid.values, 3));
  const index: number[] = [];
  for (let i = 0; i + 1 < grid.rows; i++) {
    for (let j = 0; j + 1 < grid.cols; j++) {
      const a = i * grid.cols + j;
      index.push(a, a + 1, a + grid.cols, a + 1, a + grid.cols + 1, a + grid.cols);
    }
  }
  g.setIndex(index);
  g.computeVertexNormals();
  // The first and the last column are the same points: they share their normals, so that no seam is seen.
  const normal = g.getAttribute("normal");
  const n = new THREE.Vector3();
  const m = new THREE.Vector3();
  for (let i = 0; i < grid.rows; i++) {
    const a = i * grid.cols;
    const b = a + grid.cols - 1;
    n.fromBufferAttribute(normal, a).add(m.fromBufferAttribute(normal, b)).normalize();
    normal.setXYZ(a, n.x, n.y, n.z);
    normal.setXYZ(b, n.x, n.y, n.z);
  }
  return g;
}

function solidGeometry(thing: Thing, frame: Frame): { geometry: THREE.BufferGeometry; pattern: Pattern; sides?: boolean } {
  const s = (name: string) => size(thing, name);
  switch (thing.kind) {
    case "ball":
      return { geometry: new THREE.SphereGeometry(s("r"), 64, 32), pattern: thing.args.turned ? "octants" : "none" };
    case "ellipsoid":
      return { geometry: new THREE.SphereGeometry(1, 64, 32).scale(s("a"), s("b"), s("c")), pattern: "octants" };
    case "torus":
      return { geometry: new THREE.TorusGeometry(s("a"), s("b"), 24, 96), pattern: "quarters" };
    case "disk":
      return {
        geometry: new THREE.CylinderGeometry(s("r"), s("r"), 0.03 * s("r"), 96).rotateX(Math.PI / 2),
        pattern: "quarters",
      };
    case "cylinder":
      return {
        geometry: new THREE.CylinderGeometry(s("r"), s("r"), 2 * s("h"), 96).rotateX(Math.PI / 2),
        pattern: "quarters",
      };
    case "box":
      return { geometry: new THREE.BoxGeometry(s("a"), s("b"), s("c")), pattern: "none" };
    case "lathe":
      return { geometry: lathe(thing.grid!), pattern: "octants", sides: true };
    case "mesh":
      return { geometry: surface(thing.grid!), pattern: "octants", sides: true };
    default:
      return { geometry: new THREE.SphereGeometry(0.035 * frame.size, 24, 16), pattern: "none" };
  }
}

function solid(thing: Thing, frame: Frame): Actor {
  const { geometry, pattern, sides } = solidGeometry(thing, frame);
  const skin = new Skin(pattern, frame.ghost);
  if (sides) skin.side = THREE.DoubleSide;
  const object = mesh(geometry, skin);
  object.castShadow = !frame.ghost;
  return {
    thing,
    object,
    move(t) {
      place(thing.args.at, t, object.position);
      orient(thing, t, object.quaternion);
    },
    dress(theme) {
      const c = theme.body(thing.colour, frame.ghost);
      if (thing.kind === "point") skin.paint(theme.ink, theme.ink);
      else skin.paint(c[0], c[1]);
    },
    clear(on) {
      if (frame.ghost) return;
      skin.transparent = on;
      skin.opacity = on ? 0.55 : 1;
      skin.depthWrite = !on;
      skin.needsUpdate = true;
    },
  };
}

// ---- rods ----

function stretch(object: THREE.Object3D, a: THREE.Vector3, b: THREE.Vector3): void {
  const d = b.clone().sub(a);
  const length = d.length();
  object.visible = length > 0;
  if (!object.visible) return;
  object.position.copy(a);
  object.quaternion.setFromUnitVectors(E3, d.divideScalar(length));
  object.scale.set(1, 1, length);
}

/** A rod of length 1 along the third axis. */
function rodGeometry(r: number): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(r, r, 1, 20).rotateX(Math.PI / 2).translate(0, 0, 0.5);
}

class Helix extends THREE.Curve<THREE.Vector3> {
  constructor(private readonly r: number) {
    super();
  }
  override getPoint(u: number, out = new THREE.Vector3()): THREE.Vector3 {
    const inner = Math.min(1, Math.max(0, (u - 0.08) / 0.84));
    const fade = Math.min(1, inner * 12, (1 - inner) * 12);
    const angle = 2 * Math.PI * 9 * inner;
    return out.set(this.r * fade * Math.cos(angle), this.r * fade * Math.sin(angle), u);
  }
}

function rods(thing: Thing, frame: Frame): Actor {
  const group = new THREE.Group();
  const skin = new Skin("none", frame.ghost);
  const points = thing.args.points;
  const cols = points ? pointWidth(points.length, thing) : 0;
  const n = points ? points.length / cols - 1 : 1;
  const geometry =
    thing.kind === "spring"
      ? new THREE.TubeGeometry(new Helix(0.06 * frame.size), 300, 0.012 * frame.size, 8)
      : rodGeometry(0.018 * frame.size);
  for (let i = 0; i < n; i++) group.add(mesh(geometry, skin));
  const a = new THREE.Vector3();
  const b = new THREE.Vector3();
  return {
    thing,
    object: group,
    move(t) {
      for (let i = 0; i < n; i++) {
        place(points ? points.slice(cols * i, cols * (i + 1)) : thing.args.from, t, a);
        place(points ? points.slice(cols * (i + 1), cols * (i + 2)) : thing.args.to, t, b);
        stretch(group.children[i], a, b);
      }
    },
    dress(theme) {
      const c = thing.colour ? theme.body(thing.colour, frame.ghost)[0] : theme.rod;
      skin.paint(c, c);
    },
  };
}

/** Numbers per point of a polyline: the program says so, or it is the only way to divide them. */
function pointWidth(n: number, thing: Thing): number {
  const said = thing.args.width?.[0];
  if (typeof said === "number") return said;
  return n % 3 === 0 ? 3 : 2;
}

// ---- arrows ----

/** Where an arrow ends: at most as far as a body is long. Returns the part of its length that is drawn. */
export function arrowEnd(thing: Thing, t: number, scale: number, longest: number, out: THREE.Vector3): number {
  const v = place(thing.args.along, t, new THREE.Vector3()).multiplyScalar(scale);
  const part = Math.min(1, longest / v.length());
  place(thing.args.at, t, out).addScaledVector(v, part);
  return part;
}

function arrow(thing: Thing, frame: Frame): Actor {
  const group = new THREE.Group();
  const material = new THREE.MeshLambertMaterial({ transparent: frame.ghost, opacity: frame.ghost ? 0.4 : 1 });
  const r = 0.016 * frame.size;
  const shaft = mesh(rodGeometry(r), material);
  const head = mesh(new THREE.ConeGeometry(3 * r, 8 * r, 24).rotateX(Math.PI / 2).translate(0, 0, -4 * r), material);
  const second = new THREE.Mesh(head.geometry, material); // a second head: longer than it is drawn
  group.add(shaft, head, second);
  const scale = frame.arrowScale.get(thing.group) ?? 1;
  const a = new THREE.Vector3();
  const v = new THREE.Vector3();
  return {
    thing,
    object: group,
    move(t) {
      place(thing.args.at, t, a);
      second.visible = arrowEnd(thing, t, scale, frame.size, v) < 1;
      const length = v.sub(a).length();
      const shown = Number.isFinite(length) && length > 1e-6 * frame.size;
      shaft.visible = head.visible = shown;
      if (!shown) return;
      group.position.copy(a);
      group.quaternion.setFromUnitVectors(E3, v.divideScalar(length));
      const headLength = Math.min(8 * r, 0.6 * length);
      head.scale.setScalar(headLength / (8 * r));
      head.position.set(0, 0, length);
      second.position.set(0, 0, length - 0.7 * headLength);
      shaft.scale.set(1, 1, Math.max(1e-9, length - 0.9 * headLength));
    },
    dress(theme) {
      material.color.copy(theme.arrow(thing.group, thing.colour));
    },
  };
}

/** Principal axes of a symmetric 3 x 3 matrix by Jacobi's method: columns of the result. */
export function principalAxes(m: number[]): { axes: number[][]; moments: number[] } {
  const a = [m.slice(0, 3), m.slice(3, 6), m.slice(6, 9)];
  const v = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ];
  for (let sweep = 0; sweep < 30; sweep++) {
    for (const [p, q] of [
      [0, 1],
      [0, 2],
      [1, 2],
    ]) {
      if (Math.abs(a[p][q]) < 1e-14 * (Math.abs(a[p][p]) + Math.abs(a[q][q]))) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]);
      const c = Math.cos(angle);
      const s = Math.sin(angle);
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  }
  return { axes: v, moments: [a[0][0], a[1][1], a[2][2]] };
}

function axes(thing: Thing, frame: Frame): Actor {
  const group = new THREE.Group();
  const inertia = (thing.args.inertia ?? []).map((x) => at(x, 0));
  const found = principalAxes(inertia.length === 9 ? inertia : [1, 0, 0, 0, 1, 0, 0, 0, 1]);
  const materials: THREE.MeshLambertMaterial[] = [];
  const r = 0.011 * frame.size;
  const length = 0.75 * frame.size;
  for (let k = 0; k < 3; k++) {
    const material = new THREE.MeshLambertMaterial();
    const one = new THREE.Group();
    const shaft = mesh(rodGeometry(r), material);
    shaft.scale.set(1, 1, 2 * length);
    shaft.position.z = -length;
    const tip = mesh(new THREE.ConeGeometry(2.6 * r, 7 * r, 20).rotateX(Math.PI / 2).translate(0, 0, length), material);
    one.add(shaft, tip);
    one.quaternion.setFromUnitVectors(E3, new THREE.Vector3(found.axes[0][k], found.axes[1][k], found.axes[2][k]).normalize());
    group.add(one);
    materials.push(material);
  }
  return {
    thing,
    object: group,
    move(t) {
      place(thing.args.at, t, group.position);
      orient(thing, t, group.quaternion);
    },
    dress(theme) {
      materials.forEach((m, k) => m.color.copy(theme.axes[k]));
    },
  };
}

// ---- traces ----

/** Which points of a path are needed to keep the others within `eps` of it: Douglas and Peucker's division of stretches. */
function needed(points: Float64Array, n: number, eps: number): number[] {
  const keep = new Uint8Array(n);
  const a = new THREE.Vector3();
  const d = new THREE.Vector3();
  const p = new THREE.Vector3();
  keep[0] = keep[n - 1] = 1;
  const todo = [0, n - 1];
  while (todo.length) {
    const to = todo.pop()!;
    const from = todo.pop()!;
    a.fromArray(points, 3 * from);
    d.fromArray(points, 3 * to).sub(a);
    const square = d.lengthSq();
    let most = eps * eps;
    let far = -1;
    for (let i = from + 1; i < to; i++) {
      p.fromArray(points, 3 * i).sub(a);
      const along = square > 0 ? Math.min(1, Math.max(0, p.dot(d) / square)) : 0;
      const off = p.addScaledVector(d, -along).lengthSq();
      if (off > most) [most, far] = [off, i];
    }
    if (far < 0) continue;
    keep[far] = 1;
    todo.push(from, far, far, to);
  }
  return Array.from(keep.keys()).filter((i) => keep[i]);
}

/** A path as lines of the scene: all of it faint, and the part up to a point strong. */
interface Path {
  objects: THREE.Object3D[];
  /** The number of segments that are behind. */
  show(behind: number): void;
}

/** Thick lines, in pieces: those out of sight are not drawn. */
function thickPath(points: number[], whole: LineMaterial, past: LineMaterial): Path {
  const pieces: { first: number; segments: number; whole: Line2; past: Line2 }[] = [];
  const n = points.length / 3 - 1;
  for (let first = 0; first < n; first += 256) {
    const segments = Math.min(256, n - first);
    const geometry = new LineGeometry().setPositions(points.slice(3 * first, 3 * (first + segments + 1)));
    const done = new LineGeometry(); // reads the same numbers
    for (const name of ["instanceStart", "instanceEnd"]) done.setAttribute(name, geometry.getAttribute(name));
    done.instanceCount = segments;
    done.computeBoundingSphere();
    pieces.push({ first, segments, whole: new Line2(geometry, whole), past: new Line2(done, past) });
  }
  return {
    objects: pieces.flatMap((x) => [x.whole, x.past]),
    show(behind) {
      for (const x of pieces) {
        const done = Math.min(x.segments, behind - x.first);
        x.past.visible = done > 0;
        x.past.geometry.instanceCount = Math.max(0, done);
        x.whole.visible = done < x.segments;
      }
    },
  };
}

/** Thin lines for paths with very many segments, which would be a blot in thick ones and take long to draw. */
function thinPath(points: number[], whole: THREE.LineBasicMaterial, past: THREE.LineBasicMaterial): Path {
  const position = new THREE.Float32BufferAttribute(points, 3);
  const [ahead, done] = [whole, past].map((m) => new THREE.Line(new THREE.BufferGeometry().setAttribute("position", position), m));
  const n = points.length / 3;
  return {
    objects: [ahead, done],
    show(behind) {
      ahead.geometry.setDrawRange(behind, n - behind);
      done.geometry.setDrawRange(0, behind + 1);
      done.visible = behind > 0;
    },
  };
}

function trace(thing: Thing, frame: Frame): Actor {
  const series = thing.args.at;
  const p = new THREE.Vector3();
  const found = drawingTimes(series, frame.from, frame.to, 20000).filter((t) => {
    place(series, t, p);
    return Number.isFinite(p.x + p.y + p.z);
  });
  const all = new Float64Array(3 * found.length);
  found.forEach((t, i) => place(series, t, p).toArray(all, 3 * i));
  const chosen = found.length > 1 ? needed(all, found.length, 5e-4 * frame.size) : [];
  const kept = chosen.map((i) => found[i]);
  const points = chosen.flatMap((i) => [all[3 * i], all[3 * i + 1], all[3 * i + 2]]);
  const group = new THREE.Group();
  // Drawn after the ground, whole path first, without depth of their own: they would fight each other for it.
  const look = { transparent: true, depthWrite: false };
  const thin = kept.length > 4000;
  const fine = [new THREE.LineBasicMaterial(look), new THREE.LineBasicMaterial(look)];
  const whole = new LineMaterial({ linewidth: 1.5, ...look });
  const past = new LineMaterial({ linewidth: 2.6, ...look });
  const path = thin ? thinPath(points, fine[0], fine[1]) : thickPath(points, whole, past);
  path.objects.forEach((line, i) => (line.renderOrder = 1 + (i % 2)));
  if (kept.length) group.add(...path.objects);
  const tip = new Line2(new LineGeometry().setPositions([0, 0, 0, 0, 0, 0]), past); // from the last point to the present
  tip.renderOrder = 2;
  tip.frustumCulled = false;
  group.add(tip);
  const ends = (tip.geometry.getAttribute("instanceStart") as THREE.InterleavedBufferAttribute).data;
  return {
    thing,
    object: group,
    move(t) {
      let behind = -1; // the last point that is behind
      let hi = kept.length;
      while (hi - behind > 1) {
        const middle = (behind + hi) >> 1;
        if (kept[middle] <= t) behind = middle;
        else hi = middle;
      }
      path.show(Math.max(0, behind));
      place(series, t, p);
      tip.visible = behind >= 0 && behind + 1 < kept.length && Number.isFinite(p.x + p.y + p.z);
      if (!tip.visible) return;
      (ends.array as Float32Array).set([points[3 * behind], points[3 * behind + 1], points[3 * behind + 2], p.x, p.y, p.z]);
      ends.needsUpdate = true;
    },
    dress(theme) {
      const c = frame.ghost ? theme.ghost : thing.colour ? theme.body(thing.colour, false)[0] : theme.trace;
      for (const m of [whole, fine[0]]) m.color.copy(c).lerp(theme.floor[1], 0.6);
      for (const m of [past, fine[1]]) m.color.copy(c);
    },
  };
}

// ---- grounds ----

/** A chequered floor in two shades that fades out towards its edge: computed where it is seen, at any distance. */
class Chequers extends THREE.MeshLambertMaterial {
  readonly second = { value: new THREE.Color() };

  constructor(cell: number, half: number, fades: boolean) {
    super({ transparent: true, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2, side: THREE.DoubleSide });
    this.forceSinglePass = true; // it is flat: no side of it is behind the other
    // The mean of the pattern over a pixel: that of a triangle wave's slope in each direction.
    this.onBeforeCompile = (shader) =>
      colourByPlace(
        shader,
        { second: this.second, cell: { value: cell }, halfWidth: { value: half } },
        "uniform vec3 second;\nuniform float cell, halfWidth;",
        `vec2 place = vLocal.xy/cell;
        vec2 wide = max(fwidth(place), vec2(1e-6));
        vec2 mean = 2.0*(abs(fract(0.5*place - 0.25*wide) - 0.5) - abs(fract(0.5*place + 0.25*wide) - 0.5))/wide;
        diffuseColor.rgb = mix(diffuseColor.rgb, second, 0.5 + 0.5*mean.x*mean.y);
        ${fades ? "diffuseColor.a *= clamp((0.99 - length(vLocal.xy)/halfWidth)/0.52, 0.0, 1.0);" : ""}`,
      );
    this.customProgramCacheKey = () => `chequers-${fades}`;
  }
}

export function nice(x: number): number {
  const p = 10 ** Math.floor(Math.log10(x));
  return (x / p < 1.5 ? 1 : x / p < 3.5 ? 2 : x / p < 7.5 ? 5 : 10) * p;
}

function plane(thing: Thing, frame: Frame): Actor {
  const turns = Boolean(thing.args.angle) || Boolean(thing.args.turned);
  const cell = nice(0.5 * frame.size);
  const half = turns ? frame.spread + 1.2 * frame.size : frame.spread + 4 * frame.size;
  const cells = Math.min(128, 2 * Math.ceil(half / cell));
  const width = cells * cell;
  const even = (x: number) => 2 * cell * Math.round(x / (2 * cell)); // the pattern stays where it is
  const material = new Chequers(cell, width / 2, !turns);
  const floor = new THREE.Mesh(turns ? new THREE.CircleGeometry(width / 2, 128) : new THREE.PlaneGeometry(width, width), material);
  floor.receiveShadow = true;
  const group = new THREE.Group();
  group.add(floor);
  if (!turns) floor.position.set(even(frame.centre.x), even(frame.centre.y), 0);
  const origin = place(thing.args.at, frame.from, new THREE.Vector3());
  const axis = thing.args.axis ? place(thing.args.axis, frame.from, new THREE.Vector3()) : E3;
  if (frame.centre.clone().sub(origin).dot(axis) < -1e-6 * frame.size * axis.length()) {
    material.opacity = 0.4; // the bodies are on its other side: they are seen through it
    material.depthWrite = false;
  }
  const spin = new THREE.Quaternion();
  return {
    thing,
    object: group,
    move(t) {
      place(thing.args.at, t, origin);
      group.position.copy(origin);
      orient(thing, t, group.quaternion);
      if (thing.args.angle) group.quaternion.multiply(spin.setFromAxisAngle(E3, at(thing.args.angle[0], t)));
      if (!turns && !thing.args.at && !thing.args.axis) return;
      if (!turns) {
        const local = frame.centre.clone().sub(origin).applyQuaternion(group.quaternion.clone().invert());
        floor.position.set(even(local.x), even(local.y), 0);
      }
    },
    dress(theme) {
      material.color.copy(theme.floor[0]);
      material.second.value.copy(theme.floor[1]);
    },
  };
}

function hollow(thing: Thing, frame: Frame): Actor {
  const group = new THREE.Group();
  let geometry: THREE.BufferGeometry;
  if (thing.kind === "shell") geometry = new THREE.SphereGeometry(size(thing, "r"), 64, 32).rotateX(Math.PI / 2);
  else if (thing.kind === "tube") {
    const r = size(thing, "r");
    const [middle, half] = tubeRange(thing, frame);
    geometry = new THREE.CylinderGeometry(r, r, 2 * half, 96, 1, true).rotateX(Math.PI / 2).translate(0, 0, middle);
  } else geometry = thing.grid ? lathe(thing.grid) : new THREE.BufferGeometry();
  const material = new THREE.MeshLambertMaterial({
    transparent: true,
    opacity: 0.4,
    side: THREE.DoubleSide,
    depthWrite: false,
  });
  const skin = new THREE.Mesh(geometry, material);
  const lines = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.22 });
  group.add(skin, rings(thing, frame, lines));
  const spin = new THREE.Quaternion();
  return {
    thing,
    object: group,
    move(t) {
      place(thing.args.at, t, group.position);
      orient(thing, t, group.quaternion);
      if (thing.args.angle) group.quaternion.multiply(spin.setFromAxisAngle(E3, at(thing.args.angle[0], t)));
    },
    dress(theme) {
      material.color.copy(theme.floor[0]);
      lines.color.copy(theme.ink);
    },
  };
}

/** The part of the axis of a tube beside which the motion is: its middle and half of its length. */
function tubeRange(thing: Thing, frame: Frame): [number, number] {
  const origin = place(thing.args.at, frame.from, new THREE.Vector3());
  const axis = thing.args.axis ? place(thing.args.axis, frame.from, new THREE.Vector3()).normalize() : E3.clone();
  const extent = frame.box.getSize(new THREE.Vector3());
  const half = 0.5 * (Math.abs(axis.x) * extent.x + Math.abs(axis.y) * extent.y + Math.abs(axis.z) * extent.z);
  return [frame.centre.clone().sub(origin).dot(axis), half + 0.4 * frame.size];
}

/** Parallels and meridians of a hollow ground. */
function rings(thing: Thing, frame: Frame, material: THREE.LineBasicMaterial): THREE.Object3D {
  const profile: [number, number][] = [];
  if (thing.kind === "shell") {
    for (let i = 0; i <= 64; i++) {
      const u = (Math.PI * i) / 64;
      profile.push([size(thing, "r") * Math.sin(u), -size(thing, "r") * Math.cos(u)]);
    }
  } else if (thing.kind === "tube") {
    const [middle, half] = tubeRange(thing, frame);
    for (let i = 0; i <= 64; i++) profile.push([size(thing, "r"), middle + half * (i / 32 - 1)]);
  } else if (thing.grid) {
    for (let i = 0; i < thing.grid.rows; i++) profile.push([thing.grid.values[2 * i], thing.grid.values[2 * i + 1]]);
  }
  const points: number[] = [];
  const n = profile.length - 1;
  for (let k = 0; k < 24; k++) {
    const c = Math.cos((2 * Math.PI * k) / 24);
    const s = Math.sin((2 * Math.PI * k) / 24);
    for (let i = 0; i < n; i++)
      points.push(profile[i][0] * c, profile[i][0] * s, profile[i][1], profile[i + 1][0] * c, profile[i + 1][0] * s, profile[i + 1][1]);
  }
  for (let i = n; i > 0; i -= Math.max(1, Math.round(n / 8))) {
    const [r, z] = profile[i];
    for (let k = 0; k < 96; k++) {
      const a = (2 * Math.PI * k) / 96;
      const b = (2 * Math.PI * (k + 1)) / 96;
      points.push(r * Math.cos(a), r * Math.sin(a), z, r * Math.cos(b), r * Math.sin(b), z);
    }
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  return new THREE.LineSegments(g, material);
}

export function makeActor(thing: Thing, frame: Frame): Actor {
  switch (thing.kind) {
    case "segment":
    case "polyline":
    case "spring":
      return rods(thing, frame);
    case "arrow":
      return arrow(thing, frame);
    case "axes":
      return axes(thing, frame);
    case "trace":
      return trace(thing, frame);
    case "plane":
      return plane(thing, frame);
    case "shell":
    case "tube":
    case "bowl":
      return hollow(thing, frame);
    default:
      return solid(thing, frame);
  }
}
