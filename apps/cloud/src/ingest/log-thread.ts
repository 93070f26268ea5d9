/**
 * The thread that appends to the ingest log. Everything that is waiting when a commit ends goes into the next one, so one
 * sync answers many uploads; an upload alone waits for nobody.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { sqliteFault } from '../metadata/sqlite-fault.ts';
import { LogMaintenance } from './log-maintenance.ts';
import type { LogAnswer, LogMessage, LogRequest, LogThreadSetup } from './log-protocol.ts';
import { openLogFile } from './open-log-file.ts';

/** A group is committed when it holds this much, so that the first of it does not wait for a long queue. */
const groupEntries = 512;
const groupBytes = 16 * 1024 * 1024;
function start(setup: LogThreadSetup): void {
  const port = parentPort;
  if (!port) throw new Error('log-thread.ts is a worker; start it through openIngestLog');
  const say = (message: LogMessage): void => port.postMessage(message);
  const { db, appender, state } = openLogFile(setup.file);
  const maintenance = new LogMaintenance(db);
  let failed = false;
  let closing: number | null = null;

  const perform = (request: Exclude<LogRequest, { kind: 'close' }>): LogAnswer => {
    const { id } = request;
    if (request.kind === 'append') return { id, result: appender.append(request.entry) };
    if (request.kind === 'truncate') return { id, result: maintenance.truncate(request.upTo, request.maxRows) };
    if (request.kind === 'damaged') return { id, result: maintenance.markDamaged(request.position, request.reason) };
    return { id, result: maintenance.expire(request.nowMs) };
  };

  const commitGroup = (requests: readonly Exclude<LogRequest, { kind: 'close' }>[]): void => {
    if (failed) return;
    try {
      appender.begin();
      const answers = requests.map(perform);
      appender.commit();
      say({ type: 'answers', answers });
    } catch (caught) {
      const fault = sqliteFault(caught);
      if (fault.kind === 'fatal') {
        // What reached the disk is unknown, so nobody is answered and the process ends (I2).
        failed = true;
        say({ type: 'fatal', message: fault.message });
        return;
      }
      appender.rollback();
      // One that cannot be stored, or that does not fit on the disk, takes none of its neighbours with it.
      if (requests.length > 1) for (const request of requests) commitGroup([request]);
      else say({ type: 'answers', answers: requests.map(({ id }) => ({ id, fault })) });
    }
  };

  port.on('message', (first: LogRequest) => {
    let next: LogRequest | undefined = first;
    while (next && !failed) {
      const group: Exclude<LogRequest, { kind: 'close' }>[] = [];
      let bytes = 0;
      for (; next && group.length < groupEntries && bytes < groupBytes; next = take()) {
        if (next.kind === 'close') closing = next.id;
        else group.push(next);
        if (next.kind === 'append') bytes += next.entry.batch.length;
      }
      if (group.length > 0) commitGroup(group);
    }
    if (closing !== null && !failed) {
      db.close();
      say({ type: 'answers', answers: [{ id: closing, result: { rows: 0, bytes: 0 } }] });
      port.close();
    }
  });
  const take = (): LogRequest | undefined => receiveMessageOnPort(port)?.message;

  say({ type: 'ready', ...state });
}

try {
  start(workerData as LogThreadSetup);
} catch (caught) {
  const message = caught instanceof Error ? caught.message : String(caught);
  parentPort?.postMessage({ type: 'refused', message } satisfies LogMessage);
  parentPort?.close();
}
