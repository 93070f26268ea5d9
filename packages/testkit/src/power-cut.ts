/**
 * Computes the contents of the disk after a power failure, from a recording. The model is harsher than real file systems:
 *
 * - everything covered by a completed sync of a file survives;
 * - of later writes, any part may survive: nothing, everything, a prefix, or any set of 512-byte sectors;
 * - a file's name survives once its directory was synced after the creation; of later creations, renames and unlinks,
 *   a prefix survives (a name may be missing although its content was synced, and a removed file may be back);
 * - what a failed sync should have covered is covered by no later sync, only by being written or named again.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Syscall } from './record-syscalls.ts';

const sectorBytes = 512;

type Change = Extract<Syscall, { kind: 'write' | 'truncate' }>;
type Write = Extract<Syscall, { kind: 'write' }>;
type NameChange = Extract<Syscall, { kind: 'create' | 'mkdir' | 'link' | 'rename' | 'unlink' }>;
type NamePending = NameChange & { readonly inode: Inode };

interface Pending<T> {
  /** Its index in the recording, or `never`: a sync of it has failed. */
  readonly at: number;
  readonly change: T;
}

interface Inode {
  durable: Uint8Array;
  pending: Pending<Change>[];
}

const never = Number.POSITIVE_INFINITY;

export interface CutImage {
  /** How many calls of the recording had begun. */
  readonly at: number;
  /** Contents by absolute path as recorded. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** How many changes of names the disk has forgotten, because their directory was not synced after them. */
  readonly forgotten: Readonly<Record<NameChange['kind'], number>>;
}

export interface CutOptions {
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Files that are excluded, such as SQLite's shared memory. */
  readonly ignore?: (path: string) => boolean;
  /** How many images to make at random instants, besides those at the sync boundaries. At a repeated instant, a different part survives. */
  readonly randomInstants: number;
  /** Images at one of this many boundaries; default 1, every boundary; 0: none. */
  readonly everyBoundary?: number;
  /** How many images to make after the last call; default: none. */
  readonly atEnd?: number;
  /** The first call before which there may be a cut; default 0. */
  readonly from?: number;
  /** What was on the disk before the recording, by absolute path; default: nothing. */
  readonly files?: ReadonlyMap<string, Uint8Array>;
}

/** Images at every sync boundary (just before and just after it) and at random instants, oldest first. */
export function* cutImages(calls: readonly Syscall[], options: CutOptions): Iterable<CutImage> {
  const { random, randomInstants, everyBoundary = 1, atEnd = 0, from = 0 } = options;
  const ignore = options.ignore ?? (() => false);
  const atBoundaries = new Set<number>();
  let boundaries = 0;
  calls.forEach((call, index) => {
    if (call.kind === 'sync' && boundaries++ % everyBoundary === 0) atBoundaries.add(index).add(index + 1);
  });
  const images = new Map([...atBoundaries].map((at) => [at, 1]));
  if (atEnd > 0) images.set(calls.length, (images.get(calls.length) ?? 0) + atEnd);
  for (let made = 0; made < randomInstants; made++) {
    const at = from + Math.floor(random() * (calls.length + 1 - from));
    images.set(at, (images.get(at) ?? 0) + 1);
  }

  const disk = new Disk(options.files ?? new Map());
  for (let at = 0; at <= calls.length; at++) {
    for (let left = at < from ? 0 : (images.get(at) ?? 0); left > 0; left--) yield { at, ...disk.cut(random) };
    const call = calls[at];
    if (call && !ignore(call.path)) disk.apply(call, at);
  }
}

/** Writes an image below `directory`, with the same layout as the recorded paths below `recordedDirectory`. */
export async function restoreImage(image: CutImage, recordedDirectory: string, directory: string): Promise<void> {
  for (const [path, bytes] of image.files) {
    const target = join(directory, relative(recordedDirectory, path));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes);
  }
}

class Disk {
  /** Names as the program sees them. */
  readonly #names = new Map<string, Inode>();
  readonly #durableNames: Map<string, Inode>;
  /** By directory. */
  readonly #pendingNames = new Map<string, Pending<NamePending>[]>();
  /** Directories that the program made; others were there before. */
  readonly #made = new Set<string>();

  constructor(files: ReadonlyMap<string, Uint8Array>) {
    this.#durableNames = new Map([...files].map(([path, durable]) => [path, { durable, pending: [] }]));
    for (const [path, inode] of this.#durableNames) this.#names.set(path, inode);
  }

  apply(call: Syscall, at: number): void {
    if (call.path === 'stdout' || call.path === 'stderr') return;
    if (call.kind === 'write' || call.kind === 'truncate')
      this.#names.get(call.path)?.pending.push({ at, change: call });
    else if (call.kind === 'sync') this.#sync(call.path, call.startedAt);
    else if (call.kind === 'failed-sync') this.#lose(call.path);
    else this.#rename(call, at);
  }

  #rename(change: NameChange, at: number): void {
    const inode = this.#names.get(change.path) ?? { durable: new Uint8Array(), pending: [] };
    if (change.kind === 'mkdir') this.#made.add(change.path);
    else if (change.kind === 'rename' && this.#made.has(change.path))
      throw new Error(`the model of power cuts has no renamed directories, found ${change.path}`);
    rename(this.#names, change, inode);
    const directory = dirname('to' in change ? change.to : change.path);
    const pending = this.#pendingNames.get(directory) ?? [];
    pending.push({ at, change: { ...change, inode } });
    this.#pendingNames.set(directory, pending);
  }

  /** No later sync covers the operations of a failed one. */
  #lose(path: string): void {
    const inode = this.#names.get(path);
    if (inode !== undefined) inode.pending = inode.pending.map(({ change }) => ({ at: never, change }));
    const names = this.#pendingNames.get(path);
    if (names !== undefined)
      this.#pendingNames.set(
        path,
        names.map(({ change }) => ({ at: never, change })),
      );
  }

  #sync(path: string, startedAt: number): void {
    const inode = this.#names.get(path);
    if (inode !== undefined) syncFile(inode, startedAt);
    const names = this.#pendingNames.get(path);
    if (names === undefined) return;
    const covered = names.filter(({ at }) => at < startedAt);
    for (const { change } of covered) rename(this.#durableNames, change, change.inode);
    const changedNames = new Set(covered.flatMap(({ change }) => namesOf(change)));
    // A name that was lost, and then changed again, is durable with the new change.
    this.#pendingNames.set(
      path,
      names.filter(
        ({ at, change }) =>
          at >= startedAt && (at !== never || !namesOf(change).some((name) => changedNames.has(name))),
      ),
    );
  }

  cut(random: () => number): Pick<CutImage, 'files' | 'forgotten'> {
    const names = new Map(this.#durableNames);
    const forgotten = { create: 0, mkdir: 0, link: 0, rename: 0, unlink: 0 };
    for (const pending of this.#pendingNames.values()) {
      const kept = Math.floor(random() * (pending.length + 1));
      for (const { change } of pending.slice(0, kept)) rename(names, change, change.inode);
      for (const { change } of pending.slice(kept)) forgotten[change.kind]++;
    }
    const files = [...names].filter(([path]) => !this.#made.has(path) && this.#isReached(path, names));
    return { files: new Map(files.map(([path, inode]) => [path, survivor(inode, random)])), forgotten };
  }

  /** Whether all directories above it that the program made are still there. */
  #isReached(path: string, names: ReadonlyMap<string, Inode>): boolean {
    for (let at = dirname(path); at !== dirname(at); at = dirname(at))
      if (this.#made.has(at) && !names.has(at)) return false;
    return true;
  }
}

function rename(names: Map<string, Inode>, change: NameChange, inode: Inode): void {
  if (change.kind === 'rename' || change.kind === 'unlink') names.delete(change.path);
  if (change.kind !== 'unlink') names.set('to' in change ? change.to : change.path, inode);
}

function namesOf(change: NameChange): readonly string[] {
  return 'to' in change ? [change.path, change.to] : [change.path];
}

/** What was lost in a failed sync is on the disk only where it was written once more. */
function syncFile(inode: Inode, startedAt: number): void {
  const isCovered = ({ at }: Pending<Change>): boolean => at < startedAt;
  const covered = inode.pending.filter(
    (each) => isCovered(each) || (each.at === never && each.change.kind === 'truncate'),
  );
  const left = inode.pending.flatMap((each, index) => {
    if (isCovered(each)) return [];
    const { at, change } = each;
    if (at !== never) return [each];
    if (change.kind === 'truncate') return [];
    const later = inode.pending.slice(index + 1).filter(isCovered);
    return later
      .reduce<readonly Write[]>((parts, { change: over }) => parts.flatMap((part) => without(part, over)), [change])
      .map((part) => ({ at, change: part }));
  });
  inode.durable = changed(
    inode.durable,
    covered.map(({ change }) => change),
  );
  inode.pending = left;
}

/** The parts of a write that a later change leaves. */
function without(write: Write, over: Change): readonly Write[] {
  const end = write.offset + write.bytes.length;
  const [from, to] = over.kind === 'truncate' ? [over.length, end] : [over.offset, over.offset + over.bytes.length];
  const part = (start: number, stop: number): Write[] =>
    start < stop
      ? [{ ...write, offset: start, bytes: write.bytes.subarray(start - write.offset, stop - write.offset) }]
      : [];
  return [...part(write.offset, Math.min(end, from)), ...part(Math.max(write.offset, to), end)];
}

function survivor({ durable, pending }: Inode, random: () => number): Uint8Array {
  const style = Math.floor(random() * 4);
  if (style === 0) return durable;
  const changes = pending.map(({ change }) => change);
  if (style === 1) return changed(durable, changes.slice(0, Math.floor(random() * (changes.length + 1))));
  if (style === 2) return changed(durable, changes);
  // The probability that a sector survives, from almost 0 to almost 1.
  const share = random();
  return changed(
    durable,
    changes.flatMap(sectors).filter(() => random() < share),
  );
}

function sectors(change: Change): Change[] {
  if (change.kind === 'truncate') return [change];
  const { offset, bytes } = change;
  const parts: Change[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + sectorBytes - ((offset + start) % sectorBytes));
    parts.push({ ...change, offset: offset + start, bytes: bytes.subarray(start, end) });
    start = end;
  }
  return parts;
}

/** Returns a new array, so that images and durable states can share theirs. */
function changed(content: Uint8Array, changes: readonly Change[]): Uint8Array {
  let longest = content.length;
  for (const change of changes) {
    longest = Math.max(longest, change.kind === 'truncate' ? change.length : change.offset + change.bytes.length);
  }
  const result = new Uint8Array(longest);
  result.set(content);
  let length = content.length;
  for (const change of changes) {
    if (change.kind === 'truncate') {
      result.fill(0, change.length);
      length = change.length;
    } else {
      result.set(change.bytes, change.offset);
      length = Math.max(length, change.offset + change.bytes.length);
    }
  }
  return result.subarray(0, length);
}
