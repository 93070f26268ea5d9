/** The writer thread of one SQLite file: receives requests from its port, commits them in groups, and answers. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { checkedTablesOf } from '../row-checks/checked-tables-of.ts';
import { watchSqliteRows } from '../row-checks/sqlite-triggers.ts';
import { createCheckpoint } from './checkpoint.ts';
import { GroupWriter } from './group-writer.ts';
import { migrate } from './migrate.ts';
import { defaultCheckpointBytes, openWritable } from './sqlite-file.ts';
import type { WriterMessage, WriterRequest, WriterSetup } from './writer-protocol.ts';

/** A transaction whose owner is silent for longer than this is rolled back, because it blocks every other writer. */
const silenceMs = 15_000;

function start(setup: WriterSetup): void {
  const port = parentPort;
  if (!port) throw new Error('writer-thread.ts is a worker; start it through openWriter');
  const say = (message: WriterMessage): void => port.postMessage(message);
  const db = openWritable(setup.file);
  migrate(db, setup.migrations, setup.file);
  watchSqliteRows(db, checkedTablesOf(setup.migrations));

  const checkpoint = createCheckpoint(db);
  const writer = new GroupWriter({
    db,
    checkpoint: () => checkpoint(defaultCheckpointBytes),
    answer: (answers) => say({ type: 'answers', answers }),
    fatal: (message) => say({ type: 'fatal', message }),
    monotonic: () => performance.now(),
  });

  let silence: NodeJS.Timeout | undefined;
  const handle = (request: WriterRequest): void => {
    if (request.kind !== 'close') {
      writer.accept(request);
      return;
    }
    writer.pump();
    db.close();
    say({ type: 'answers', answers: [{ id: request.id, result: { rows: [], changes: 0, insertId: 0 } }] });
    port.close();
  };
  port.on('message', (first: WriterRequest) => {
    handle(first);
    // Requests that have arrived in the meantime join the group.
    for (let next = receiveMessageOnPort(port); next; next = receiveMessageOnPort(port)) handle(next.message);
    clearTimeout(silence);
    if (!db.isOpen) return;
    writer.pump();
    if (writer.openTransaction !== null) {
      silence = setTimeout(() => {
        writer.abandon(`the transaction waited ${silenceMs / 1000} s for its owner and was rolled back`);
        writer.pump();
      }, silenceMs);
    }
  });
  say({ type: 'ready', opened: null });
}

try {
  start(workerData as WriterSetup);
} catch (caught) {
  parentPort?.postMessage({
    type: 'refused',
    message: caught instanceof Error ? caught.message : String(caught),
  } satisfies WriterMessage);
  parentPort?.close();
}
