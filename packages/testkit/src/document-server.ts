/**
 * A stand-in for a document database: speaks as much of MongoDB's wire protocol (OP_MSG, and OP_QUERY for the first hello) as the official
 * driver needs to insert, keeps the documents in memory, and fails on request. With a `login`, it requires SCRAM-SHA-256.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { type Document, deserialize, serialize } from 'bson';

export interface DocumentServer extends AsyncDisposable {
  readonly port: number;
  /** Without user and password. */
  readonly uri: string;
  /** By `<database>.<collection>`, then by `_id`. */
  readonly collections: ReadonlyMap<string, ReadonlyMap<unknown, Document>>;
  /** How many inserts arrived. */
  inserts: number;
  /** Duplicate keys that were refused. */
  duplicates: number;
  connections: number;
  /** Decides about an insert; by default, it is carried out and answered. */
  onInsert: (documents: readonly Document[]) => InsertFault | undefined;
  /** True: it no longer answers anything. */
  isSilent: boolean;
  /** The role in the answer to hello. */
  isPrimary: boolean;
  maxDocumentBytes: number;
}

export type InsertFault =
  /** The whole command fails. */
  | { readonly code: number; readonly message: string }
  /** Documents for which `fails` returns a code are refused. */
  | { readonly fails: (document: Document) => number | undefined }
  /** The first `stored` documents are stored, then the connection ends without an answer. */
  | { readonly stored: number }
  | 'silence';

interface Login {
  readonly user: string;
  readonly password: string;
}

const opReply = 1;
const opQuery = 2004;
const opMessage = 2013;
const duplicateKey = 11_000;

export async function startDocumentServer(login?: Login): Promise<DocumentServer> {
  const collections = new Map<string, Map<unknown, Document>>();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    state.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    serveConnection(socket, { state, collections, login });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const state: DocumentServer = {
    port,
    uri: `mongodb://127.0.0.1:${port}/?directConnection=true`,
    collections,
    inserts: 0,
    duplicates: 0,
    connections: 0,
    onInsert: () => undefined,
    isSilent: false,
    isPrimary: true,
    maxDocumentBytes: 16 * 1024 * 1024,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return state;
}

interface Connection {
  readonly state: DocumentServer;
  readonly collections: Map<string, Map<unknown, Document>>;
  readonly login: Login | undefined;
}

function serveConnection(socket: Socket, connection: Connection): void {
  const { state, login } = connection;
  const scram = login === undefined ? undefined : new ScramServer(login);
  let pending = Buffer.alloc(0);
  const answer = (request: number, isLegacy: boolean, document: Document): void => {
    const body = serialize(document);
    const head = Buffer.alloc(isLegacy ? 36 : 21);
    head.writeInt32LE(head.length + body.length, 0);
    head.writeInt32LE(request, 8);
    head.writeInt32LE(isLegacy ? opReply : opMessage, 12);
    if (isLegacy) head.writeInt32LE(1, 32);
    socket.write(Buffer.concat([head, body]));
  };
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 16 && pending.length >= pending.readInt32LE(0)) {
      const message = pending.subarray(0, pending.readInt32LE(0));
      pending = pending.subarray(message.length);
      if (state.isSilent) continue;
      const isLegacy = message.readInt32LE(12) === opQuery;
      const command = isLegacy ? queryOf(message) : commandOf(message);
      const reply = respond(command, connection, scram);
      if (reply === 'end') socket.destroy();
      else if (reply !== 'silence') answer(message.readInt32LE(4), isLegacy, reply);
    }
  });
}

function queryOf(message: Buffer): Document {
  const name = message.indexOf(0, 20);
  return deserialize(message.subarray(name + 9));
}

/** The body of an OP_MSG with the documents of its sequences. */
function commandOf(message: Buffer): Document {
  let command: Document = {};
  for (let at = 20; at < message.length; ) {
    const kind = message[at++];
    const size = message.readInt32LE(at);
    if (kind === 0) {
      command = { ...command, ...deserialize(message.subarray(at, at + size), { promoteValues: false }) };
    } else {
      const end = message.indexOf(0, at + 4);
      const documents: Document[] = [];
      for (let from = end + 1; from < at + size; from += message.readInt32LE(from))
        documents.push(deserialize(message.subarray(from, from + message.readInt32LE(from))));
      command[message.toString('utf8', at + 4, end)] = documents;
    }
    at += size;
  }
  return command;
}

function respond(
  command: Document,
  { state, collections }: Connection,
  scram?: ScramServer,
): Document | 'end' | 'silence' {
  const [name = ''] = Object.keys(command);
  if (/^(hello|ismaster)$/i.test(name)) {
    return {
      ...{ ok: 1, helloOk: true, minWireVersion: 0, maxWireVersion: 21, connectionId: 1, readOnly: false },
      ...{ isWritablePrimary: state.isPrimary, ismaster: state.isPrimary, logicalSessionTimeoutMinutes: 30 },
      ...{ maxBsonObjectSize: state.maxDocumentBytes, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
      ...(!state.isPrimary && { secondary: true, setName: 'rs', hosts: [`127.0.0.1:${state.port}`] }),
      ...(scram && { saslSupportedMechs: ['SCRAM-SHA-256'] }),
    };
  }
  if (name === 'saslStart' || name === 'saslContinue')
    return scram?.respond(Buffer.from(command['payload'].buffer)) ?? failure(18, 'Authentication failed.');
  if (scram !== undefined && !scram.isDone) return failure(13, `command ${name} requires authentication`);
  if (name !== 'insert') return { ok: 1 };
  return insert(command, state, collections);
}

function insert(
  command: Document,
  state: DocumentServer,
  collections: Map<string, Map<unknown, Document>>,
): Document | 'end' | 'silence' {
  state.inserts++;
  const documents: Document[] = command['documents'];
  const fault = state.onInsert(documents);
  if (fault === 'silence') return fault;
  if (!state.isPrimary) return failure(10_107, 'not primary');
  if (fault !== undefined && 'code' in fault) return failure(fault.code, fault.message);
  if (/[ ."$/\\]/.test(String(command['$db']))) return failure(73, 'Invalid namespace specified');
  const namespace = `${command['$db']}.${command['insert']}`;
  const stored = collections.get(namespace) ?? new Map<unknown, Document>();
  collections.set(namespace, stored);
  const writeErrors: Document[] = [];
  for (const [index, document] of documents.entries()) {
    if (fault !== undefined && 'stored' in fault && index >= fault.stored) return 'end';
    const code = fault !== undefined && 'fails' in fault ? fault.fails(document) : undefined;
    if (code !== undefined) writeErrors.push({ index, code, errmsg: `refused with ${code}` });
    else if (stored.has(document['_id'])) {
      state.duplicates++;
      writeErrors.push({ index, code: duplicateKey, errmsg: 'E11000 duplicate key error' });
    } else stored.set(document['_id'], document);
  }
  if (fault !== undefined && 'stored' in fault) return 'end';
  return { ok: 1, n: documents.length - writeErrors.length, ...(writeErrors.length > 0 && { writeErrors }) };
}

function failure(code: number, errmsg: string): Document {
  return { ok: 0, code, errmsg };
}

const iterations = 4_096;

/** The server's side of SCRAM-SHA-256 (RFC 7677), for one user. */
class ScramServer {
  isDone = false;
  readonly #login: Login;
  readonly #salt = randomBytes(16);
  #begun: string | undefined;

  constructor(login: Login) {
    this.#login = login;
  }

  /** Undefined: wrong user or password. */
  respond(payload: Buffer): Document | undefined {
    const text = payload.toString('utf8');
    if (this.#begun === undefined) {
      const bare = text.replace(/^n,,/, '');
      const [, user = '', nonce = ''] = /^n=([^,]*),r=(.*)$/.exec(bare) ?? [];
      if (user !== this.#login.user) return undefined;
      const first = `r=${nonce}${randomBytes(9).toString('base64url')},s=${this.#salt.toString('base64')},i=${iterations}`;
      this.#begun = `${bare},${first}`;
      return sasl(first, false);
    }
    const [, withoutProof = '', proof = ''] = /^(.*),p=(.*)$/.exec(text) ?? [];
    const salted = pbkdf2Sync(this.#login.password, this.#salt, iterations, 32, 'sha256');
    const signed = `${this.#begun},${withoutProof}`;
    const clientKey = hmac(salted, 'Client Key');
    const signature = hmac(createHash('sha256').update(clientKey).digest(), signed);
    const expected = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
    if (expected.toString('base64') !== proof) return undefined;
    this.isDone = true;
    return sasl(`v=${hmac(hmac(salted, 'Server Key'), signed).toString('base64')}`, true);
  }
}

function sasl(text: string, done: boolean): Document {
  return { ok: 1, conversationId: 1, done, payload: Buffer.from(text) };
}

function hmac(key: Uint8Array, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
