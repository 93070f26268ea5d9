/**
 * Replaces listed files by others that hold the same rows, or only the rows that are not deleted (I9, I10). Replacements run one at a time,
 * because two replacements of one file would list its rows twice.
 *
 * States of a replacement: requested (the child writes new files) → switched (one catalog transaction) → the old files are unlinked once
 * every snapshot opened before is closed. If the child dies or a step fails, the old files do not change.
 */
import { type Clock, createLimiter, errorText, type Log } from '@platform/base';
import type { DeletionPause } from '../../instance/deletion-pause.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Delete } from '../catalog/row-filter.ts';
import type { SnapshotLeases } from '../catalog/snapshot-leases.ts';
import type { Child } from '../child/child.ts';
import type { FileRef, FromChild, Rewritten } from '../process/messages.ts';
import type { TabularSettings } from '../settings.ts';

export interface Compaction {
  /** Merges small files of an organization and day until none are left; failures are retried after the next seal. */
  merge(): Promise<void>;
  /** Removes the rows covered by the deletions from a file. `failed`: try again later. */
  removeRows(file: FileRef, deletes: readonly Delete[], signal: AbortSignal): Promise<'removed' | 'none' | 'failed'>;
  /** Unlists files whose rows are all deleted; returns how many. Files that have been merged in the meantime stay. */
  drop(files: readonly string[]): Promise<number>;
  /** Handles the child's answer; resolves when it is in the catalog. */
  answered(message: Extract<FromChild, { kind: 'rewritten' }>): Promise<void>;
  /** The child died and will not answer open requests. */
  onDeath(): void;
}

interface Asked {
  readonly files: readonly FileRef[];
  readonly finish: (outcome: Outcome) => void;
}

type Outcome = 'replaced' | 'unchanged' | 'failed';

export function createCompaction(options: {
  readonly child: () => Child;
  readonly catalog: Catalog;
  readonly leases: SnapshotLeases;
  readonly deletions: DeletionPause;
  /** Unlinks a file that nothing refers to any more. */
  readonly unlink: (file: string) => Promise<void>;
  readonly settings: Pick<TabularSettings, 'mergeFiles' | 'fileBytes'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly stopping: AbortSignal;
}): Compaction {
  const { child, catalog, leases, deletions, settings, clock, log, stopping } = options;
  const oneAtATime = createLimiter(1);
  const asked = new Map<number, Asked>();
  let nextId = 1;
  let merging = false;

  const ask = async (files: readonly FileRef[], deletes: readonly Delete[], signal: AbortSignal): Promise<Outcome> => {
    await child().ready(signal);
    return new Promise((finish) => {
      const id = nextId++;
      asked.set(id, { files, finish });
      child().send({ kind: 'rewrite', id, files, deletes });
    });
  };

  /** Waits for snapshots that were opened before and still read the files. */
  const unlink = (files: readonly string[]): void => {
    void leases
      .drained()
      .then(() =>
        deletions.run(async () => {
          for (const file of files) await options.unlink(file);
          child().send({ kind: 'removed', files });
        }),
      )
      .catch((caught: unknown) =>
        log.warn('files that are no longer listed could not be removed; the next start removes them', {
          files,
          error: errorText(caught),
        }),
      );
  };

  const switchFiles = async (files: readonly FileRef[], result: Rewritten): Promise<Outcome> => {
    if (result.kind === 'unchanged') return 'unchanged';
    const replaced = files.map(({ file }) => file);
    if (result.kind === 'failed') {
      log.error('rewriting files failed; they are unchanged', { files: replaced, error: result.reason });
      return 'failed';
    }
    try {
      await catalog.replace(replaced, result.files, clock.now());
    } catch (caught) {
      log.error('listing rewritten files failed; the old files stay', { error: errorText(caught) });
      return 'failed';
    }
    unlink(replaced);
    return 'replaced';
  };

  const mergeAll = async (): Promise<void> => {
    const limit = {
      files: settings.mergeFiles,
      smallBytes: settings.fileBytes / 4,
      totalBytes: settings.fileBytes,
    };
    // An unreadable file blocks only its own day.
    const failed = new Set<string>();
    for (;;) {
      const outcome = await oneAtATime(async () => {
        const files = await catalog.mergeable(limit, failed);
        if (files.length < 2) return 'none';
        const found = await ask(files, [], stopping);
        if (found !== 'replaced') for (const { file } of files) failed.add(file);
        return found;
      });
      if (outcome === 'none') return;
    }
  };

  return {
    async merge() {
      if (merging) return;
      merging = true;
      try {
        await mergeAll();
      } catch (caught) {
        if (!stopping.aborted) log.error('merging small files failed', { error: errorText(caught) });
      } finally {
        merging = false;
      }
    },
    removeRows: (file, deletes, signal) =>
      oneAtATime(async () => {
        // The file may have been merged since it was listed.
        if (!(await catalog.isListed(file.file))) return 'failed';
        const outcome = await ask([file], deletes, signal);
        return outcome === 'replaced' ? 'removed' : outcome === 'unchanged' ? 'none' : 'failed';
      }),
    drop: (files) =>
      oneAtATime(async () => {
        const listed: string[] = [];
        for (const file of files) if (await catalog.isListed(file)) listed.push(file);
        await catalog.replace(listed, [], clock.now());
        unlink(listed);
        return listed.length;
      }),
    async answered({ id, result }) {
      const question = asked.get(id);
      if (question === undefined) return;
      asked.delete(id);
      question.finish(await switchFiles(question.files, result));
    },
    onDeath() {
      for (const { finish } of asked.values()) finish('failed');
      asked.clear();
    },
  };
}
