import type { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { clientPreface, frameHeadBytes, frameTypes } from './frames.ts';
import type { Garbage } from './garbage.ts';

/** Sends as the client of a connection. Resolves once everything has been sent, or the connection has ended. */
export async function sendAsClient(connection: Duplex, garbage: Garbage): Promise<void> {
  connection.on('error', () => {}).resume();
  await write(connection, garbage.opening, garbage.pieceBytes);
  finish(connection, garbage.end);
}

/** Sends as the server of a connection: first the opening, and the rest once a call has arrived. Resolves as above, or if no call arrives. */
export async function sendAsServer(connection: Duplex, garbage: Garbage): Promise<void> {
  connection.on('error', () => {});
  const called = waitForCall(connection);
  await write(connection, garbage.opening, garbage.pieceBytes);
  const answer = garbage.answer(1);
  const stream = answer.length === 0 ? undefined : await called;
  if (stream !== undefined) await write(connection, stream === 1 ? answer : garbage.answer(stream), garbage.pieceBytes);
  finish(connection, garbage.end);
}

/** @returns the stream of the first call; undefined if the connection has ended */
function waitForCall(connection: Duplex): Promise<number | undefined> {
  return new Promise((resolve) => {
    let unread = Buffer.alloc(0);
    let skip = clientPreface.length;
    let isFound = false;
    connection.once('close', () => resolve(undefined));
    connection.on('data', (bytes: Buffer) => {
      if (isFound) return;
      unread = Buffer.concat([unread, bytes]);
      for (;;) {
        const skipped = Math.min(skip, unread.length);
        unread = unread.subarray(skipped);
        skip -= skipped;
        if (unread.length < frameHeadBytes) return;
        if (unread[3] === frameTypes.headers) {
          isFound = true;
          resolve(unread.readUInt32BE(5));
          return;
        }
        skip = frameHeadBytes + unread.readUIntBE(0, 3);
      }
    });
  });
}

async function write(connection: Duplex, bytes: Uint8Array, pieceBytes: number): Promise<void> {
  for (let at = 0; at < bytes.length && connection.writable; at += pieceBytes) {
    const isFull = !connection.write(bytes.subarray(at, at + pieceBytes));
    if (isFull) await drained(connection);
    else if (pieceBytes < bytes.length) await turn();
  }
}

function drained(connection: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      connection.off('drain', done).off('close', done).off('error', done);
      resolve();
    };
    connection.on('drain', done).on('close', done).on('error', done);
    if (!connection.writable) done();
  });
}

function finish(connection: Duplex, end: Garbage['end']): void {
  if (end === 'end') connection.end();
  else if (end === 'cut') connection.destroy();
}
