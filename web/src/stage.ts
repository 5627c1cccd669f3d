// SPDX-License-Identifier: MIT
// The picture: renderer, light, camera, and the actors of one or two runs.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { drawingTimes, type Run, type Series, type Thing } from "./data";
import { Detail, makeRenderer } from "./detail";
import { arrowEnd, makeActor, nice, place, type Actor, type Frame } from "./shapes";
import type { Theme } from "./theme";

const solids = new Set(["ball", "ellipsoid", "torus", "disk", "cylinder", "box", "lathe", "mesh", "point"]);

function extent(thing: Thing): number {
  const s = (name: string) => {
    const v = thing.args[name]?.[0];
    return typeof v === "number" ? v : 0;
  };
  switch (thing.kind) {
    case "ball":
    case "disk":
      return s("r");
    case "cylinder":
      return Math.hypot(s("r"), s("h"));
    case "torus":
      return s("a") + s("b");
    case "ellipsoid":
      return Math.max(s("a"), s("b"), s("c"));
    case "box":
      return 0.5 * Math.hypot(s("a"), s("b"), s("c"));
    case "lathe":
    case "mesh": {
      const width = thing.kind === "mesh" ? 3 : 2;
      const values = thing.grid!.values;
      let most = 0;
      for (let i = 0; i + width <= values.length; i += width) {
        let sum = 0;
        for (let k = 0; k < width; k++) sum += values[i + k] ** 2;
        most = Math.max(most, Math.sqrt(sum));
      }
      return most;
    }
    default:
      return 0;
  }
}

/** Places that a thing is at, as series of coordinates. */
function places(thing: Thing): Series[][] {
  const out: Series[][] = [];
  if (thing.group === "ground" || thing.kind === "axes" || thing.group === "omega") return out;
  for (const name of ["at", "from", "to"]) if (thing.args[name]) out.push(thing.args[name]);
  const points = thing.args.points;
  const width = thing.args.width?.[0] === 2 || (points && points.length % 3) ? 2 : 3;
  if (points) for (let i = 0; i + width <= points.length; i += width) out.push(points.slice(i, i + width));
  return out;
}

function axisOf(thing: Thing, t: number): THREE.Vector3 {
  return thing.args.axis ? place(thing.args.axis, t, new THREE.Vector3()).normalize() : new THREE.Vector3(0, 0, 1);
}

interface Bounds {
  box: THREE.Box3;
  size: number; // of the largest body, or of what stands for one: thickness and arrows are parts of it
  spheres: THREE.Vector4[]; // places and radii over time, for the camera
}

function bounds(runs: Run[]): Bounds {
  const box = new THREE.Box3();
  const p = new THREE.Vector3();
  const spheres: THREE.Vector4[] = [];
  let size = 0;
  let spacing = 0;
  const all = new THREE.Box3();
  for (const run of runs) {
    for (const thing of run.things) {
      const r = extent(thing);
      size = Math.max(size, 2 * r);
      for (const series of places(thing)) {
        for (const t of drawingTimes(series, run.from, run.to, 1000)) {
          place(series, t, p);
          if (!Number.isFinite(p.x + p.y + p.z)) continue;
          box.expandByPoint(p);
          spheres.push(new THREE.Vector4(p.x, p.y, p.z, r));
          if (r > 0) {
            box.expandByPoint(p.clone().addScalar(r));
            box.expandByPoint(p.clone().addScalar(-r));
          }
        }
      }
      if (thing.group === "body" && r === 0) {
        const one = new THREE.Box3();
        for (const series of places(thing)) one.expandByPoint(place(series, run.from, p));
        if (!one.isEmpty()) spacing = Math.max(spacing, one.getSize(p).length());
        all.union(one);
      }
    }
    for (const thing of run.things) {
      const r = thing.args.r?.[0];
      if (thing.kind === "shell" && typeof r === "number") {
        place(thing.args.at, run.from, p);
        spheres.push(new THREE.Vector4(p.x, p.y, p.z, r));
        box.expandByPoint(p.clone().addScalar(r));
        box.expandByPoint(p.clone().addScalar(-r));
      }
    }
  }
  if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
  const diagonal = box.getSize(new THREE.Vector3()).length();
  if (!(size > 0) && !all.isEmpty()) size = 0.4 * all.getSize(p).length();
  if (spacing > 3 * size) size = 0.6 * spacing;
  if (!(size > 0)) size = 0.15 * diagonal;
  if (!(size > 0)) size = 1;
  if (!spheres.length) spheres.push(new THREE.Vector4(0, 0, 0, 1));
  return { box, size, spheres };
}

/** Arrows of a group have one scale: the longest is not quite as long as a body; rare peaks are cut off at its length.
 * Normal and friction force share theirs. */
function arrowScales(runs: Run[], size: number): Map<string, number> {
  const most = new Map<string, number>();
  const v = new THREE.Vector3();
  const key = (group: string) => (group === "normal" || group === "friction" ? "force" : group);
  for (const run of runs) {
    for (const thing of run.things) {
      if (thing.kind !== "arrow") continue;
      const lengths = drawingTimes(thing.args.along, run.from, run.to, 800)
        .map((t) => place(thing.args.along, t, v).length())
        .filter((x) => Number.isFinite(x))
        .sort((a, b) => a - b);
      const high = lengths.length ? lengths[Math.floor(0.98 * (lengths.length - 1))] : 0;
      most.set(key(thing.group), Math.max(most.get(key(thing.group)) ?? 0, high));
    }
  }
  const scales = new Map<string, number>();
  for (const group of ["normal", "friction", "omega", "arrow"]) {
    const high = most.get(key(group)) ?? 0;
    scales.set(group, high > 0 ? (0.7 * size) / high : 1);
  }
  return scales;
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly groups: string[];
  readonly size: number;
  private readonly scene = new THREE.Scene();
  private readonly actors: Actor[] = [];
  private readonly hidden = new Set<string>();
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x8890a0, 1.4);
  private readonly box: THREE.Box3;
  private readonly spheres: THREE.Vector4[];
  private follow = false;
  private readonly focus = new THREE.Vector3();
  private stale = true;
  private time = 0;
  private far = false;
  private covered = 0; // part of the height that is behind the switches
  private moved = false; // the camera, by the user
  private readonly arrowScale: Map<string, number>;
  readonly detail: Detail;

  constructor(
    canvas: HTMLCanvasElement,
    readonly runs: Run[],
  ) {
    const { renderer, slow } = makeRenderer(canvas);
    this.renderer = renderer;
    this.detail = new Detail(renderer, this.sun, slow);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    const found = bounds(runs);
    this.box = found.box;
    this.size = found.size;
    this.spheres = found.spheres;
    const centre = this.box.getCenter(new THREE.Vector3());
    const spread = 0.5 * this.box.getSize(new THREE.Vector3()).setZ(0).length();
    const arrowScale = arrowScales(runs, this.size);
    this.arrowScale = arrowScale;
    runs.forEach((run, i) => {
      const frame: Frame = {
        size: this.size,
        centre,
        spread,
        box: this.box,
        from: run.from,
        to: run.to,
        ghost: i > 0,
        arrowScale,
      };
      run.things.forEach((thing) => {
        if (i > 0 && thing.group === "ground") return;
        const actor = makeActor(this.coloured(thing, run), frame);
        this.actors.push(actor);
        this.scene.add(actor.object);
      });
    });
    this.groups = [...new Set(this.actors.map((a) => a.thing.group))];
    for (const group of ["axes", "omega", "normal", "friction"]) this.show(group, false);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.addEventListener("change", () => (this.stale = true));
    this.controls.addEventListener("start", () => (this.moved = true));
    const lamp = new THREE.DirectionalLight(0xffffff, 0.4); // at the camera: no side is black
    this.camera.add(lamp);
    this.scene.add(this.sky, this.sun, this.sun.target, this.camera);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = 0.01 * this.size;
    const reach = 2.2 * this.size;
    Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * this.size, far: 20 * this.size });
    this.sun.shadow.radius = 4;
    this.time = runs[0].from;
    this.findFocus(this.time, this.focus);
    this.far = this.wanders();
    this.move(runs[0].from);
    this.look();
  }

  /** Several bodies get different colours. */
  private coloured(thing: Thing, run: Run): Thing {
    if (thing.colour || thing.group !== "body" || !solids.has(thing.kind) || thing.kind === "point") return thing;
    const all = run.things.filter((x) => x.group === "body" && solids.has(x.kind) && x.kind !== "point");
    return { ...thing, colour: 1 + (all.indexOf(thing) % 8) };
  }

  /** Everything in view, from a little above; when the camera follows, only the bodies. */
  look(): void {
    const centre = this.follow ? this.focus.clone() : this.box.getCenter(new THREE.Vector3());
    const flat = this.box.max.z - this.box.min.z < 1e-3 * this.size;
    const direction = (flat ? new THREE.Vector3(0.25, -0.75, 1.1) : new THREE.Vector3(0.75, -1.15, 0.62)).normalize();
    const distance = this.near(centre, direction, (this.follow ? this.now() : this.spheres).concat(this.arrowEnds()));
    this.moved = false;
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.camera.near = 0.01 * distance;
    this.camera.far = 60 * distance;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.stale = true;
  }

  /** The bodies at this time, with some room. */
  private now(): THREE.Vector4[] {
    const out: THREE.Vector4[] = [];
    const p = new THREE.Vector3();
    for (const thing of this.runs[0].things) {
      const hollow = thing.kind === "shell" || thing.kind === "tube" ? thing.args.r?.[0] : 0;
      if (typeof hollow === "number" && hollow > 0) {
        place(thing.args.at, this.time, p);
        if (thing.kind === "tube") p.addScaledVector(axisOf(thing, this.time), this.focus.clone().sub(p).dot(axisOf(thing, this.time)));
        out.push(new THREE.Vector4(p.x, p.y, p.z, hollow));
      }
      if (thing.group !== "body") continue;
      const r = extent(thing);
      for (const series of places(thing)) {
        place(series, this.time, p);
        if (Number.isFinite(p.x + p.y + p.z)) out.push(new THREE.Vector4(p.x, p.y, p.z, 1.5 * r));
      }
    }
    return out.length ? out : this.spheres;
  }

  /** Where the ends of the arrows are that are switched on, over time; when the camera follows, as seen from it. */
  private arrowEnds(): THREE.Vector4[] {
    const out: THREE.Vector4[] = [];
    const end = new THREE.Vector3();
    const focus = new THREE.Vector3();
    for (const run of this.follow ? this.runs.slice(0, 1) : this.runs) {
      for (const thing of run.things) {
        if (thing.kind !== "arrow" || !this.shown(thing.group)) continue;
        for (const t of drawingTimes(thing.args.along, run.from, run.to, 300)) {
          arrowEnd(thing, t, this.arrowScale.get(thing.group)!, this.size, end);
          if (this.follow) {
            this.findFocus(t, focus);
            end.sub(focus).add(this.focus);
          }
          if (Number.isFinite(end.x + end.y + end.z)) out.push(new THREE.Vector4(end.x, end.y, end.z, 0.05 * this.size));
        }
      }
    }
    return out;
  }

  /** What arrows of a group mean: a length in the picture and the value that has it; null where there are none. */
  scaleOf(group: string): [number, number] | null {
    if (!this.runs.some((run) => run.things.some((x) => x.kind === "arrow" && x.group === group))) return null;
    const length = nice(0.5 * this.size);
    return [length, length / this.arrowScale.get(group)!];
  }

  /** The smallest distance from which all spheres are seen. */
  private near(centre: THREE.Vector3, direction: THREE.Vector3, spheres: THREE.Vector4[]): number {
    const right = new THREE.Vector3().crossVectors(this.camera.up, direction).normalize();
    const up = new THREE.Vector3().crossVectors(direction, right);
    const half = 0.92 * Math.tan((this.camera.fov * Math.PI) / 360);
    const low = half * (1 - this.covered);
    const p = new THREE.Vector3();
    let distance = 1e-9;
    for (const s of spheres) {
      p.set(s.x, s.y, s.z).sub(centre);
      const depth = p.dot(direction);
      const widest = Math.abs(p.dot(right)) + 1.05 * s.w;
      const highest = Math.abs(p.dot(up)) + 1.05 * s.w;
      distance = Math.max(distance, depth + s.w, depth + highest / low, depth + widest / (half * this.camera.aspect));
    }
    return Math.max(distance, 1.2 * this.size);
  }

  top(): void {
    const d = this.camera.position.distanceTo(this.controls.target);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(0, -1e-3 * d, d));
    this.controls.update();
    this.stale = true;
  }

  setFollow(on: boolean): void {
    if (on === this.follow) return;
    this.follow = on;
    this.look();
  }

  /** Does the motion go much further than the size of the bodies? */
  wanders(): boolean {
    const now = new THREE.Box3();
    const p = new THREE.Vector3();
    for (const s of this.now()) {
      now.expandByPoint(p.set(s.x + s.w, s.y + s.w, s.z + s.w));
      now.expandByPoint(p.set(s.x - s.w, s.y - s.w, s.z - s.w));
    }
    return this.box.getSize(new THREE.Vector3()).length() > 5 * Math.max(this.size, now.getSize(p).length());
  }

  show(group: string, on: boolean): void {
    if (on) this.hidden.delete(group);
    else this.hidden.add(group);
    for (const a of this.actors) if (a.thing.group === group) a.object.visible = on;
    const inner = ["axes", "omega"].some((g) => this.groups.includes(g) && this.shown(g));
    for (const a of this.actors) a.clear?.(inner);
    this.move(this.time);
    if (on && !this.moved && this.controls && this.scaleOf(group)) this.look(); // new arrows shall be in the picture
  }

  shown(group: string): boolean {
    return !this.hidden.has(group);
  }

  private findFocus(t: number, out: THREE.Vector3): void {
    const run = this.runs[0];
    let n = 0;
    const p = new THREE.Vector3();
    out.set(0, 0, 0);
    for (const thing of run.things) {
      if (thing.group !== "body") continue;
      for (const series of places(thing)) {
        place(series, t, p);
        if (!Number.isFinite(p.x + p.y + p.z)) continue;
        out.add(p);
        n++;
      }
    }
    if (n) out.divideScalar(n);
    else this.box.getCenter(out);
  }

  move(t: number): void {
    this.time = t;
    for (const a of this.actors) if (!this.hidden.has(a.thing.group)) a.move(t);
    const before = this.focus.clone();
    this.findFocus(t, this.focus);
    if (this.follow && Number.isFinite(this.focus.x)) {
      const step = this.focus.clone().sub(before);
      this.controls?.target.add(step);
      this.camera.position.add(step);
    }
    const sunFocus = this.far || this.follow ? this.focus : this.box.getCenter(new THREE.Vector3());
    const near = this.far ? 2 * this.size : Math.max(this.size, 0.5 * this.box.getSize(new THREE.Vector3()).length());
    this.sun.target.position.copy(sunFocus);
    this.sun.position.copy(sunFocus).add(new THREE.Vector3(-0.45, -0.35, 1).normalize().multiplyScalar(6 * near));
    const c = this.sun.shadow.camera;
    const reach = 1.6 * near;
    c.left = c.bottom = -reach;
    c.right = c.top = reach;
    c.far = 14 * near;
    c.updateProjectionMatrix();
    this.stale = true;
  }

  dress(theme: Theme): void {
    for (const a of this.actors) a.dress(theme);
    this.sky.intensity = theme.dark ? 1.0 : 1.35;
    this.sky.groundColor.set(theme.dark ? "#3a4150" : "#aab0bb");
    this.stale = true;
  }

  /** `covered`: so much of the upper edge is behind the switches; what is to be seen stands below it. */
  resize(width: number, height: number, covered: number): void {
    if (width < 2 || height < 2) return;
    const first = this.camera.aspect === 1;
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.covered = Math.min(covered / height, 0.3);
    this.camera.setViewOffset(width, height, 0, (-this.covered * height) / 2, width, height);
    if (first) this.look();
    this.stale = true;
  }

  /** A background for recordings; null: that of the page shows through. */
  opaque(colour: string | null): void {
    this.scene.background = colour === null ? null : new THREE.Color(colour);
    this.stale = true;
  }

  get canvas(): HTMLCanvasElement {
    return this.renderer.domElement;
  }

  /** Draws if something has changed, and once more, finely, when nothing changes any longer. */
  draw(): void {
    this.controls.update();
    if (this.stale) this.detail.moving();
    else if (this.detail.due()) this.detail.still();
    else return;
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
  }

  /** Draws finely now. */
  drawFinely(): void {
    this.detail.still();
    this.stale = false;
    this.renderer.render(this.scene, this.camera);
  }

  /** How far the drawn objects of a group stick out of the free part of the picture: 1 is its edge; for tests. */
  outside(group: string): number {
    const p = new THREE.Vector3();
    let most = 0;
    this.scene.updateMatrixWorld();
    for (const a of this.actors) {
      if (a.thing.group !== group || !a.object.visible) continue;
      const box = new THREE.Box3().setFromObject(a.object, true);
      for (const x of [box.min.x, box.max.x])
        for (const y of [box.min.y, box.max.y])
          for (const z of [box.min.z, box.max.z]) {
            p.set(x, y, z).project(this.camera);
            most = Math.max(most, Math.abs(p.x), -p.y, p.y / (1 - 2 * this.covered));
          }
    }
    return most;
  }

  /** How many objects of a group are to be seen, those of all runs; for tests. */
  visible(group: string): number {
    return this.actors.filter((a) => a.thing.group === group && a.object.visible).length;
  }

  /** Where the object of the first thing of a name stands, as drawn; for tests. */
  whereIs(name: string, run = 0): { position: number[]; quaternion: number[] } | null {
    const things = this.runs[run].things;
    const thing = things.find((x) => x.name === name && x.group === "body") ?? things.find((x) => x.group === "body");
    if (!thing) return null;
    const actor = this.actors.find(
      (a) => a.thing === thing || (a.thing.args === thing.args && a.thing.kind === thing.kind),
    );
    if (!actor) return null;
    const { position: p, quaternion: q } = actor.object;
    return { position: [p.x, p.y, p.z], quaternion: [q.w, q.x, q.y, q.z] };
  }
}

