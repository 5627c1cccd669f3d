// SPDX-License-Identifier: MIT
// How finely the picture is drawn. Standing still it has all its pixels and its shadows. While something moves it has as many
// pixels as the machine draws in time; without a graphics card, where the processor draws, it has no shadows then.
import * as THREE from "three";

const software = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** Does the processor draw? The name of the renderer says so. */
function drawnByProcessor(context: WebGL2RenderingContext): boolean {
  const info = context.getExtension("WEBGL_debug_renderer_info");
  return software.test(String(context.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : context.RENDERER)));
}

/** Shaders are three.js's own. Asking each for its errors would wait until it is compiled, one after the other. */
function plain(renderer: THREE.WebGLRenderer): THREE.WebGLRenderer {
  renderer.debug.checkShaderErrors = false;
  return renderer;
}

/** A renderer for a canvas. Smooth edges more than double what a processor has to draw: it gets none, and draws what stands
 *  still with more pixels instead. Otherwise a fresh canvas takes the place of the one that has been asked. */
export function makeRenderer(canvas: HTMLCanvasElement): { renderer: THREE.WebGLRenderer; slow: boolean } {
  const context = canvas.getContext("webgl2", { alpha: true, antialias: false });
  if (!context) throw new Error("no WebGL 2");
  if (drawnByProcessor(context)) return { renderer: plain(new THREE.WebGLRenderer({ canvas, context, alpha: true })), slow: true };
  const fresh = canvas.cloneNode() as HTMLCanvasElement;
  canvas.replaceWith(fresh);
  context.getExtension("WEBGL_lose_context")?.loseContext();
  return { renderer: plain(new THREE.WebGLRenderer({ canvas: fresh, antialias: true, alpha: true })), slow: false };
}

const least = 0.35; // part of the pixels in each direction
const rest = 300; // milliseconds without a change after which the picture stands still

export class Detail {
  /** All pixels although something moves: for recordings. */
  held = false;
  private readonly ratio = Math.min(2, window.devicePixelRatio || 1); // pixels of the picture per pixel of the page
  private quality: number; // part of them that is drawn while something moves
  private pixels = 0;
  private lastChange = -Infinity;
  private readonly pace: number[] = [];

  constructor(
    private readonly renderer: THREE.WebGLRenderer,
    private readonly sun: THREE.DirectionalLight,
    private readonly slow: boolean,
  ) {
    this.quality = slow ? 0.5 : 1;
    this.moving();
  }

  /** Is the picture as it is when nothing moves? */
  get fine(): boolean {
    return this.pixels === this.finest();
  }

  /** Is it time to draw what stands still once more? */
  due(): boolean {
    return !this.fine && !this.held && performance.now() - this.lastChange > rest;
  }

  /** The next picture is one of many. */
  moving(): void {
    this.lastChange = performance.now();
    this.set(this.ratio * (this.held ? 1 : this.quality), !this.slow);
  }

  /** The next picture is to be looked at. */
  still(): void {
    this.pace.length = 0;
    this.set(this.finest(), true);
  }

  /** While playing: where frames are late, fewer pixels are drawn. `passed` is the time since the frame before. */
  keep(passed: number): void {
    this.pace.push(passed);
    if (this.pace.length < 3) return;
    const median = this.pace.sort((a, b) => a - b)[1];
    this.pace.length = 0;
    if (median > 1 / 45) this.quality = Math.max(least, this.quality * Math.max(0.5, Math.sqrt(1 / 60 / median)));
  }

  private finest(): number {
    return this.slow ? Math.max(1.5, this.ratio) : this.ratio;
  }

  private set(pixels: number, shadows: boolean): void {
    this.sun.castShadow = shadows;
    if (pixels === this.pixels) return;
    this.pixels = pixels;
    this.renderer.setPixelRatio(pixels);
  }
}
