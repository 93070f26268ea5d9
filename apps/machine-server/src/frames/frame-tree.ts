/**
 * The tree of frames below `world`. Pure.
 *
 * Each frame has two places: `NAME_origin`, where it is attached, and `NAME`, the moving end of its component; without motion they
 * coincide.
 */
import { PlatformError } from '@platform/base';
import type { RigidPose } from './pose.ts';

export const world = 'world';

export interface Frame {
  readonly name: string;
  /** The frame to which it is attached, or `world`. */
  readonly parent: string;
  /** Its pose in its parent. */
  readonly offset: RigidPose;
}

export interface FrameTree<F extends Frame> {
  /** Every frame that reaches `world`, parents first. */
  readonly frames: readonly F[];
  /** A message for each frame that does not reach `world`, or has the name of an earlier one. */
  readonly problems: readonly string[];
  /**
   * The path from `world` to a frame: `atOrigin` is true for the last one if its origin is meant.
   *
   * @throws not_found, failed_precondition if it does not reach `world`
   */
  path(name: string): readonly { readonly frame: F; readonly atOrigin: boolean }[];
}

const origin = '_origin';

export function createFrameTree<F extends Frame>(all: readonly F[]): FrameTree<F> {
  const byName = new Map<string, F>();
  const problems: string[] = [];
  for (const frame of all) {
    if (frame.name === world || byName.has(frame.name))
      problems.push(`the frame "${frame.name}" exists twice; the first one is used`);
    else byName.set(frame.name, frame);
  }
  /** The frame, and whether its origin is meant. */
  const find = (name: string): { readonly frame: F; readonly atOrigin: boolean } | undefined => {
    const exact = byName.get(name);
    if (exact !== undefined) return { frame: exact, atOrigin: false };
    const frame = name.endsWith(origin) ? byName.get(name.slice(0, -origin.length)) : undefined;
    return frame && { frame, atOrigin: true };
  };
  /** The path from `world`, or why there is none. */
  const walk = (name: string): { frame: F; atOrigin: boolean }[] | string => {
    const path: { frame: F; atOrigin: boolean }[] = [];
    const seen = new Set<F>();
    for (let at = name; at !== world; ) {
      const found = find(at);
      if (found === undefined) return `its parent "${at}" has no frame`;
      if (seen.has(found.frame))
        return `it is attached to itself: ${[...seen].map((each) => each.name).join(' → ')} → ${at}`;
      seen.add(found.frame);
      path.unshift(found);
      at = found.frame.parent;
    }
    return path;
  };
  const depths = [...byName.values()].flatMap((frame) => {
    const path = walk(frame.name);
    if (typeof path !== 'string') return [{ frame, depth: path.length }];
    problems.push(`the frame "${frame.name}" does not reach ${world}: ${path}`);
    return [];
  });
  return {
    frames: depths.toSorted((a, b) => a.depth - b.depth).map(({ frame }) => frame),
    problems,
    path(name) {
      if (name !== world && find(name) === undefined) {
        const known = [world, ...byName.keys()].slice(0, 20).join(', ');
        throw new PlatformError('not_found', `expected a frame of this machine (${known}), found "${name}"`);
      }
      const path = walk(name);
      if (typeof path !== 'string') return path;
      throw new PlatformError('failed_precondition', `the frame "${name}" does not reach ${world}: ${path}`);
    },
  };
}
