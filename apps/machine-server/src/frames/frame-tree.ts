/**
 * The tree of frames below `world`. Pure.
 *
 * Each frame has two places: `NAME_origin`, where it is attached, and `NAME`, the moving end of its component; without motion they
 * coincide.
 */
import { failedPrecondition, notFound } from '@platform/base';
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
/** Of frames that are attached to themselves, in a message. */
const maxNames = 20;

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
  const places = placesOf([...byName.values()], (name) => find(name)?.frame);
  const depths = [...byName.values()].flatMap((frame) => {
    const place = places.get(frame);
    if (typeof place === 'number') return [{ frame, depth: place }];
    problems.push(`the frame "${frame.name}" does not reach ${world}: ${place}`);
    return [];
  });
  return {
    frames: depths.toSorted((a, b) => a.depth - b.depth).map(({ frame }) => frame),
    problems,
    path(name) {
      const path: { frame: F; atOrigin: boolean }[] = [];
      for (let at = name; at !== world; ) {
        const found = find(at);
        if (found === undefined) {
          const known = [world, ...byName.keys()].slice(0, 20).join(', ');
          throw notFound(`expected a frame of this machine (${known}), found "${name}"`);
        }
        const place = places.get(found.frame);
        if (typeof place === 'string')
          throw failedPrecondition(`the frame "${name}" does not reach ${world}: ${place}`);
        path.push(found);
        at = found.frame.parent;
      }
      return path.toReversed();
    },
  };
}

/** How many frames each has above it, or why it does not reach `world`. Each is visited once, because a chain may have thousands. */
function placesOf<F extends Frame>(
  frames: readonly F[],
  find: (name: string) => F | undefined,
): ReadonlyMap<F, number | string> {
  const places = new Map<F, number | string>();
  for (const frame of frames) {
    const climbed = new Set<F>();
    let at = frame;
    let place = places.get(at);
    while (place === undefined) {
      climbed.add(at);
      const parent = at.parent === world ? undefined : find(at.parent);
      if (at.parent === world) place = -1;
      else if (parent === undefined) place = `its parent "${at.parent}" has no frame`;
      else if (climbed.has(parent)) place = cycleText(climbed, at.parent);
      else {
        at = parent;
        place = places.get(at);
      }
    }
    for (const each of [...climbed].toReversed()) {
      if (typeof place === 'number') place++;
      places.set(each, place);
    }
  }
  return places;
}

function cycleText(frames: ReadonlySet<Frame>, last: string): string {
  const names = [...frames].slice(0, maxNames).map(({ name }) => name);
  const more = frames.size > maxNames ? ['…'] : [];
  return `it is attached to itself: ${[...names, ...more, last].join(' → ')}`;
}
