/**
 * The thread that appends to the ingest log. Everything that is waiting when a commit ends goes into the next one, so one sync answers many
 * uploads; a single upload does not wait for others.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { watchMainThread } from '@platform/base/watchdog';
import { sqliteFault } from '../../metadata/sqlite/sqlite-fault.ts';
import { commitGroup, type LogWork } from './appender.ts';
import { LogMaintenance } from './log-maintenance.ts';
import type { LogMessage, LogRequest, LogThreadSetup } from './log-protocol.ts';
import { openLogFile } from './open-log-file.ts';

/** A group is committed when it reaches this size, so that its first upload does not wait for a long queue. */
const groupEntries = 512;
const groupBytes = 16 * 1024 * 1024;

function start(setup: LogThreadSetup): void {
  const port = parentPort;
  if (!port) throw new Error('log-thread.ts is a worker; start it through openIngestLog');
  const say = (message: LogMessage): void => port.postMessage(message);
  const take = (): LogRequest | undefined => receiveMessageOnPort(port)?.message;
  const { db, appender, state, checkpoint } = openLogFile(setup.file);
  const maintenance = new LogMaintenance(db);
  const committing = {
    appender,
    maintenance,
    answer: (answers: Extract<LogMessage, { type: 'answers' }>['answers']) => say({ type: 'answers', answers }),
  };
  let failed = false;
  const fail = (message: string): void => {
    failed = true;
    say({ type: 'fatal', message });
  };
  /** Called when all uploads of a group are answered. */
  const copyBack = (isIdle: boolean): void => {
    try {
      checkpoint(isIdle);
    } catch (caught) {
      fail(sqliteFault(caught).message);
    }
  };

  port.on('message', (first: LogRequest) => {
    let next: LogRequest | undefined = first;
    let closing: number | null = null;
    while (next && !failed) {
      const group: LogWork[] = [];
      let bytes = 0;
      for (; next && group.length < groupEntries && bytes < groupBytes; next = take()) {
        if (next.kind === 'close') closing = next.id;
        else group.push(next);
        if (next.kind === 'append') bytes += next.entry.batch.length;
      }
      if (group.length === 0) continue;
      const outcome = commitGroup(committing, group);
      if (outcome.kind === 'fatal') fail(outcome.message);
      else copyBack(next === undefined);
    }
    if (closing !== null && !failed) {
      db.close();
      say({ type: 'answers', answers: [{ id: closing, result: { rows: 0, bytes: 0 } }] });
      port.close();
    }
  });
  if (setup.watch !== undefined) watchMainThread(setup.watch);
  say({ type: 'ready', opened: state });
}

try {
  start(workerData as LogThreadSetup);
} catch (caught) {
  const message = caught instanceof Error ? caught.message : String(caught);
  parentPort?.postMessage({ type: 'refused', message } satisfies LogMessage);
  parentPort?.close();
}
