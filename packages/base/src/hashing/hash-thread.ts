/** The thread of `threadHash`: one SHA-256 for each id. */
import { createHash, type Hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';

/** `update` and `digest` get an answer; `end` gets none. */
export type HashRequest =
  | { readonly op: 'update'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly op: 'digest'; readonly id: number }
  | { readonly op: 'end'; readonly id: number };

/** Answers come in the order of the requests: the digest of everything so far for `digest`, null for `update`. */
export type HashAnswer = Uint8Array | null;

const hashes = new Map<number, Hash>();

const port = parentPort;
if (port === null) throw new Error('hash-thread.ts is a worker; start it through threadHash');

port.on('message', (request: HashRequest) => {
  const { op, id } = request;
  if (op === 'end') return void hashes.delete(id);
  const hash = hashes.get(id) ?? createHash('sha256');
  hashes.set(id, hash);
  if (op === 'update') hash.update(request.bytes);
  const answer: HashAnswer = op === 'update' ? null : new Uint8Array(hash.copy().digest());
  port.postMessage(answer);
});
