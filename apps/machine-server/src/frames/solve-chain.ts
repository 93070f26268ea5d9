/**
 * Inverse kinematics: the positions of the joints at which the end of a chain has a pose. Damped least squares, starting at the current
 * joint positions; derivatives by differences. Pure.
 */
import type { Chain } from './kinematics.ts';
import { compose, invert, type RigidPose } from './pose.ts';

const mostSteps = 500;
/** mm, and mm at `lever` for rotations. */
const tolerance = 1e-6;
/** A rotation by one radian counts as much as this many mm. */
const lever = 100;
const difference = 1e-4;
/** With this much damping, a step changes nothing significant. */
const stuck = 1e15;

/** @returns undefined if no positions were found */
export function solveChain(chain: Chain, wanted: RigidPose, from: readonly number[]): readonly number[] | undefined {
  let positions = [...from];
  let error = errorOf(chain, positions, wanted);
  let damping = 1;
  for (let step = 0; step < mostSteps; step++) {
    if (lengthOf(error) < tolerance) return positions;
    const columns = positions.map((_, joint) => {
      const moved = positions.map((each, at) => (at === joint ? each + difference : each));
      return errorOf(chain, moved, wanted).map((each, row) => (each - (error[row] ?? 0)) / difference);
    });
    const change = leastSquares(columns, error, damping);
    const next = positions.map((each, joint) => each - (change[joint] ?? 0));
    const nextError = errorOf(chain, next, wanted);
    if (lengthOf(nextError) < lengthOf(error)) [positions, error, damping] = [next, nextError, damping / 4];
    else damping *= 8;
    if (damping > stuck) return undefined;
  }
  return undefined;
}

/** The error: three numbers in mm, and three for the rotation. */
function errorOf(chain: Chain, positions: readonly number[], wanted: RigidPose): number[] {
  const at = chain.poseAt(positions);
  const { w, x, y, z } = compose(invert(at), wanted).rotation;
  const sine = Math.hypot(x, y, z);
  // The shorter way round.
  const angle = 2 * Math.atan2(sine, Math.abs(w)) * Math.sign(w || 1);
  const turned = sine === 0 ? [0, 0, 0] : [x, y, z].map((part) => (part / sine) * angle * lever);
  const { point: a } = at;
  const { point: b } = wanted;
  return [b.x - a.x, b.y - a.y, b.z - a.z, ...turned];
}

/** Solves `(JᵀJ + damping) change = Jᵀ error` by elimination. */
function leastSquares(columns: readonly (readonly number[])[], error: readonly number[], damping: number): number[] {
  const rows = columns.map((column, at) => [
    ...columns.map((other, to) => dot(column, other) + (at === to ? damping : 0)),
    dot(column, error),
  ]);
  for (const [at, pivot] of rows.entries())
    for (const row of rows.slice(at + 1)) {
      const factor = (row[at] ?? 0) / (pivot[at] ?? 1);
      for (let to = at; to < row.length; to++) row[to] = (row[to] ?? 0) - factor * (pivot[to] ?? 0);
    }
  const change = rows.map(() => 0);
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at] ?? [];
    const known = change.reduce((sum, each, to) => (to > at ? sum + each * (row[to] ?? 0) : sum), 0);
    change[at] = ((row[rows.length] ?? 0) - known) / (row[at] ?? 1);
  }
  return change;
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, each, at) => sum + each * (b[at] ?? 0), 0);
}

function lengthOf(vector: readonly number[]): number {
  return Math.sqrt(dot(vector, vector));
}
