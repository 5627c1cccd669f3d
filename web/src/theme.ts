// SPDX-License-Identifier: MIT
// Colours, light and dark. The palette is that of Okabe and Ito, which people with any colour vision can tell apart.
import * as THREE from "three";

export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#b39b00"];

const paletteDark = ["#4fb3f0", "#ff9248", "#2fd0a0", "#e79bc6", "#f5be41", "#8fd0f7", "#a8a8a8", "#e0d05a"];

export class Theme {
  readonly ink: THREE.Color;
  readonly rod: THREE.Color;
  readonly ghost: THREE.Color;
  readonly trace: THREE.Color;
  readonly floor: [THREE.Color, THREE.Color];
  readonly axes: THREE.Color[];
  readonly background: string;
  readonly text: string;
  readonly grid: string;

  constructor(readonly dark: boolean) {
    this.ink = new THREE.Color(dark ? "#e8eaee" : "#20242c");
    this.rod = new THREE.Color(dark ? "#b8bec9" : "#4a5260");
    this.ghost = new THREE.Color(dark ? "#9aa3b2" : "#6b7483");
    this.trace = new THREE.Color(dark ? "#ff9d5c" : "#c04a00");
    this.floor = dark
      ? [new THREE.Color("#333b48"), new THREE.Color("#2a313c")]
      : [new THREE.Color("#eef0f4"), new THREE.Color("#dfe3ea")];
    this.axes = ["#d55e00", "#009e73", "#56b4e9"].map((c) => new THREE.Color(c));
    this.background = dark ? "#171b21" : "#ffffff";
    this.text = dark ? "#c9cfd9" : "#333a45";
    this.grid = dark ? "#2c333e" : "#e6e9ef";
  }

  /** The two shades of a body. */
  body(colour: number, ghost: boolean): [THREE.Color, THREE.Color] {
    if (ghost) return [this.ghost, this.ghost.clone().lerp(new THREE.Color("#fff"), 0.35)];
    const first = new THREE.Color(palette[(colour > 0 ? colour - 1 : 0) % palette.length]);
    return [first, first.clone().lerp(new THREE.Color("#ffffff"), 0.72)];
  }

  arrow(group: string, colour: number): THREE.Color {
    if (colour > 0) return new THREE.Color(palette[(colour - 1) % palette.length]);
    const chosen: Record<string, string> = { omega: "#cc79a7", normal: "#009e73", friction: "#d55e00" };
    return new THREE.Color(chosen[group] ?? "#e69f00");
  }

  curve(i: number): string {
    return (this.dark ? paletteDark : palette)[i % palette.length];
  }
}
