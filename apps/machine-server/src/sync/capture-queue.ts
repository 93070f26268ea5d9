/**
 * Decides which capture file is sent next: first those that this process has just sealed, so that new readings arrive while a backlog is
 * sent; then the others by priority of their resource and by time.
 *
 * There may be millions of files: only the best `windowFiles` are in memory at a time, and the directories are listed again after them.
 */

import { basename, relative, sep } from 'node:path';
import { seriesPath } from '../directories/paths.ts';
import { walkFiles } from '../directories/walk-files.ts';

export interface CaptureFile {
  readonly path: string;
  /** The capture directory that contains it. */
  readonly directory: string;
}

export interface QueueOrder {
  readonly newestFirst: boolean;
  /** @param resource `<api>/<name>` as in the path of its files. Higher comes earlier. */
  readonly priorityOf: (resource: string) => number;
}

export interface CaptureQueueDeps {
  readonly directories: () => readonly string[];
  readonly order: () => QueueOrder;
  /** Whether the file may be sent now. */
  readonly isDue: (path: string) => boolean;
  /** Called with each item that is neither a file nor a folder. */
  readonly onOmitted: (path: string, why: string) => void;
  readonly signal: AbortSignal;
}

interface Ranked extends CaptureFile {
  readonly priority: number;
  /** The file name, which begins with the time. */
  readonly time: string;
}

const windowFiles = 16_384;
/** More than a machine seals between two passes; further ones are found by listing. */
const maxFresh = 16_384;

export class CaptureQueue {
  readonly #deps: CaptureQueueDeps;
  readonly #fresh = new Set<string>();

  constructor(deps: CaptureQueueDeps) {
    this.#deps = deps;
  }

  /** Records that a file was sealed. */
  sealed(path: string): void {
    if (this.#fresh.size < maxFresh) this.#fresh.add(path);
  }

  async *due(): AsyncGenerator<CaptureFile> {
    const { isDue, signal } = this.#deps;
    for (let isComplete = false; !isComplete; ) {
      const found = await this.#best();
      isComplete = found.length < windowFiles;
      for (const file of found) {
        yield* this.#newlySealed();
        if (signal.aborted) return;
        if (isDue(file.path)) yield file;
      }
    }
    yield* this.#newlySealed();
  }

  *#newlySealed(): Generator<CaptureFile> {
    for (const path of this.#fresh) {
      this.#fresh.delete(path);
      const directory = this.#deps.directories().find((each) => path.startsWith(each + sep));
      if (directory !== undefined && this.#deps.isDue(path)) yield { path, directory };
    }
  }

  async #best(): Promise<readonly Ranked[]> {
    const { directories, order, isDue, signal, onOmitted } = this.#deps;
    const { newestFirst, priorityOf } = order();
    const newer = newestFirst ? 1 : -1;
    const byRank = (a: Ranked, b: Ranked): number =>
      b.priority - a.priority || (a.time === b.time ? 0 : a.time < b.time ? newer : -newer);
    const found: Ranked[] = [];
    for (const directory of directories())
      for await (const path of walkFiles(directory, signal, { onOmitted })) {
        if (!path.endsWith('.capture') || !isDue(path)) continue;
        found.push({ path, directory, priority: priorityOf(resourceOf(path, directory)), time: basename(path) });
        if (found.length >= 2 * windowFiles) {
          found.sort(byRank);
          found.length = windowFiles;
        }
      }
    found.sort(byRank);
    return found.slice(0, windowFiles);
  }
}

/** `<api>/<name>` of a file below a capture directory. */
export function resourceOf(path: string, directory: string): string {
  return relative(directory, path).split(sep).slice(0, 2).join('/');
}

/** @returns the priority of a resource, named as the folders of its capture files are: `<api>/<name>` */
export function priorityOf(priorities: Readonly<Record<string, number>>): (resource: string) => number {
  const byName = new Map<string, number>();
  for (const [name, priority] of Object.entries(priorities)) {
    const [api, own] = name.includes('/') ? name.split('/', 2) : ['', name];
    const path = seriesPath(api ?? '', own ?? '', '-').split('/');
    byName.set(api === '' ? (path[1] ?? '') : `${path[0]}/${path[1]}`, priority);
  }
  return (resource) => byName.get(resource) ?? byName.get(resource.slice(resource.indexOf('/') + 1)) ?? 0;
}
