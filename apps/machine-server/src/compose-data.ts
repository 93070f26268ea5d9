/** Wires capture, sync and reclaiming: capture directories, sync, deletion on a full disk, capture. */
import { type Clock, inBackground, type Log } from '@platform/base';
import type { CaptureFileContents, CaptureStorage } from '@platform/capture-file';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { GapReason } from '@platform/proto/platform/gaps/v1/gaps';
import type { Link } from '@platform/rpc/client';
import { Capture, type CaptureDeps } from './capture/capture.ts';
import { Directories } from './directories/directories.ts';
import { diskStorage } from './directories/disk-storage.ts';
import { inFolder } from './directories/folder.ts';
import { SeqLedger } from './directories/seq-ledger.ts';
import { Docdb } from './docdb/docdb.ts';
import type { PartIds } from './docdb/documents-of.ts';
import { openMongodb } from './docdb/open-mongodb.ts';
import { DocdbQueue } from './docdb/queue.ts';
import { Alive, readCrash } from './gaps/alive.ts';
import { CrashGaps } from './gaps/crash-gaps.ts';
import { Gaps } from './gaps/gaps.ts';
import { damagedReadings, lostReadings, unreadableReadings } from './gaps/lost-readings.ts';
import { readBootId } from './gaps/written-note.ts';
import { withChecksums } from './sync/files/file-context.ts';
import { Reclaim, systemVolume } from './sync/reclaim/reclaim.ts';
import { Sync } from './sync/sync.ts';
import type { Observe } from './telemetry/observe.ts';

export interface DataDeps {
  readonly home: string;
  readonly partId: string;
  /** Undefined without a cloud. */
  readonly link: Link | undefined;
  readonly read: CaptureDeps['read'];
  /** The organization, location and machine of the part. */
  readonly ids: () => PartIds;
  /** Observes uploads. */
  readonly observe: Observe | undefined;
  /** Id of this run of the operating system. Default: from the operating system. */
  readonly bootId?: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends a start in progress. */
  readonly signal: AbortSignal;
}

export interface Data extends AsyncDisposable {
  readonly sync: Sync;
  readonly reclaim: Reclaim;
  readonly capture: Capture;
  readonly gaps: Gaps;
  readonly docdb: Docdb;
}

const lastSyncMs = 2_000;

/** Sync learns of sealed files at once, without listing the directories. @param before called with a file that is about to be sealed */
function tellsWhenSealed(
  storage: CaptureStorage,
  sync: Sync,
  before: (path: string) => Promise<void> = async () => {},
): CaptureStorage {
  return {
    ...storage,
    async rename(from, to) {
      if (to.endsWith('.capture')) await before(from);
      await storage.rename(from, to);
      if (to.endsWith('.capture')) sync.sealed(to);
    },
  };
}

export async function composeData(deps: DataDeps): Promise<Data> {
  const { home, partId, link, read, ids, observe, clock, log, signal } = deps;
  await using starting = new AsyncDisposableStack();
  const ledger = new SeqLedger();
  const gaps = starting.use(new Gaps({ home, partId, link, clock, log: log.child('capture') }));
  await gaps.start();
  const bootId = deps.bootId ?? (await readBootId());
  const crash = new CrashGaps(await readCrash(home, bootId, { clock, log: log.child('capture') }));
  const queue = new DocdbQueue(home, log.child('docdb'), () => clock.monotonic());
  await queue.start();
  const docdb = starting.use(
    new Docdb({
      ...{ queue, open: openMongodb, ids, clock, log: log.child('docdb') },
      seal: () => capture.seal(),
    }),
  );
  const enqueue = async (path: string, directory: string): Promise<void> => {
    // A folder that is gone, or that a link has replaced: sealing the file will say so.
    await inFolder(path, directory, (at) => queue.add(at)).catch(() => {});
    docdb.wake();
  };
  const damaged = (contents: CaptureFileContents, missing?: number): void => {
    const lost = damagedReadings(contents, missing);
    if (lost !== undefined) gaps.add(lost.series, GapReason.DAMAGED, lost.readings, lost.startUs, lost.endUs);
  };
  const directories = starting.use(
    new Directories({
      ...{ home, ledger, clock, log: log.child('capture') },
      beforeSealed: (path, directory, { header }) =>
        header.metadata?.type === DataType.TABULAR_SENSOR ? enqueue(path, directory) : Promise.resolve(),
      onRecovered: (contents) => damaged(contents, crash.recovered(contents)),
      onUnreadable: (path, directory) => crash.unreadable(path, directory),
    }),
  );
  await directories.start();
  crash.tell(gaps, clock.now() * 1_000);
  await gaps.flush();
  signal.throwIfAborted();
  const survey = (stop: AbortSignal): Promise<void> =>
    directories
      .survey(stop)
      .catch((caught) => log.warn('capture files of earlier starts could not be listed', { error: String(caught) }));
  starting.use(inBackground(survey));
  const sync = starting.use(
    new Sync({
      ...{ partId, link: link && withChecksums(link), ledger, home },
      captureDirectories: () => directories.owned(),
      seal: () => capture.seal(),
      observe,
      refused: (reason, header, readings) => {
        const lost = lostReadings(header, readings);
        if (lost !== undefined) gaps.add(lost.series, reason, lost.readings, lost.startUs, lost.endUs);
      },
      damaged,
      unreadable: (path, directory) => {
        const lost = unreadableReadings(path, directory, clock.now());
        if (lost !== undefined) gaps.add(lost.series, GapReason.DAMAGED, lost.readings, lost.startUs, lost.endUs);
      },
      clock,
      log: log.child('sync'),
    }),
  );
  const reclaim = starting.use(
    new Reclaim({
      directories: () => directories.owned(),
      sending: (path) => sync.sending(path),
      volume: systemVolume,
      ledger,
      gaps,
      clock,
      log: log.child('sync'),
    }),
  );
  // Deferred before capture is created, so that it runs after capture when unwinding: drained, sealed, then sent once more.
  starting.defer(() => Promise.race([sync.sendLast(), clock.sleep(lastSyncMs)]));
  // Removed only after the last reading is sealed.
  const alive = starting.use(new Alive(home, bootId));
  const capture: Capture = starting.use(
    new Capture({
      partId,
      storage: ({ kind, directory }) => {
        const before = (path: string): Promise<void> => enqueue(path, directory);
        return tellsWhenSealed(diskStorage(directory), sync, kind === 'tabular' ? before : undefined);
      },
      ledger,
      directories,
      read,
      gaps,
      alive,
      clock,
      log: log.child('capture'),
    }),
  );
  const unwinding = starting.move();
  return { sync, reclaim, capture, gaps, docdb, [Symbol.asyncDispose]: () => unwinding.disposeAsync() };
}
