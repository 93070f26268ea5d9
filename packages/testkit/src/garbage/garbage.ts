/**
 * What a hostile peer sends over a connection that should carry gRPC. A kind is a number: first all known ones, each alone; then random
 * changes of valid and of hostile exchanges. The same number is always the same bytes.
 */
import { seededRandom } from '../seeded-random.ts';
import {
  clientPreface,
  dataFrame,
  encodeFrame,
  envelope,
  type Frame,
  flags,
  frameTypes,
  settingsFrame,
} from './frames.ts';
import { answerFrames, hostileAnswers } from './hostile-answers.ts';
import { hostileFrames } from './hostile-frames.ts';
import { hostileRequests, otherProtocols, requestFrames } from './hostile-requests.ts';

export interface Garbage {
  /** What it consists of. */
  readonly name: string;
  /** Sent once the connection is open. */
  readonly opening: Uint8Array;
  /** Sent once a call has arrived on this stream; clients send only an opening. */
  answer(stream: number): Uint8Array;
  /** How the sender goes on: it ends its side, cuts the connection, or stays and sends nothing more. */
  readonly end: 'end' | 'cut' | 'stay';
  /** Bytes of each write. */
  readonly pieceBytes: number;
}

interface Exchange {
  readonly name: string;
  /** Sent before the frames. */
  readonly first: Uint8Array;
  readonly opening: readonly Frame[];
  readonly answer: readonly Frame[];
}

type Random = () => number;
type ChangeFrames = (frames: Frame[], at: number, random: Random) => void;
type ChangeBytes = (bytes: Buffer, at: number, random: Random) => Buffer;

const acknowledge: Frame = { type: frameTypes.settings, flags: flags.ack, stream: 0, payload: Buffer.alloc(0) };
const none = Buffer.alloc(0);
const opening = [settingsFrame([3, 100]), acknowledge];
const message = Buffer.concat([Buffer.from([0x0a, 4]), Buffer.from('text')]);
const stream = Buffer.concat([envelope(message), envelope(message), envelope(message)]);

/** What an honest server does. */
const answers: readonly Exchange[] = [
  { name: 'an answer', first: none, opening, answer: answerFrames({ body: envelope(message) }) },
  { name: 'a stream', first: none, opening, answer: answerFrames({ body: stream }) },
  { name: 'a long answer', first: none, opening, answer: answerFrames({ body: envelope(Buffer.alloc(100_000, 0)) }) },
  {
    name: 'an error',
    first: none,
    opening,
    answer: answerFrames({
      trailers: [
        ['grpc-status', '5'],
        ['grpc-message', 'no'],
      ],
    }),
  },
];

function knownAnswers(): Exchange[] {
  return [
    ...Object.entries(otherProtocols).map(([name, raw]) => ({ name, first: raw, opening: [], answer: [] })),
    ...Object.entries(hostileAnswers).map(([name, answer]) => ({ name, first: none, opening, answer })),
    ...Object.entries(hostileFrames).flatMap(([name, frames]) => [
      { name: `${name}, then an answer`, first: none, opening, answer: [...frames, ...answerFrames({})] },
      { name: `${name} at once`, first: none, opening: [...opening, ...frames], answer: answerFrames({}) },
    ]),
  ];
}

const requestsOf = (path: string): readonly Exchange[] => [
  {
    name: 'a request',
    first: clientPreface,
    opening: [...opening, ...requestFrames({ path, body: envelope(message) })],
    answer: [],
  },
  {
    name: 'a stream',
    first: clientPreface,
    opening: [...opening, ...requestFrames({ path, body: stream })],
    answer: [],
  },
  {
    name: 'two requests',
    first: clientPreface,
    opening: [...opening, ...requestFrames({ path }), ...requestFrames({ path }).map((one) => ({ ...one, stream: 3 }))],
    answer: [],
  },
];

function knownRequests(path: string): Exchange[] {
  return [
    ...Object.entries(otherProtocols).map(([name, raw]) => ({ name, first: raw, opening: [], answer: [] })),
    ...Object.entries(hostileRequests(path)).map(([name, frames]) => ({
      ...{ name, first: clientPreface, opening: [...opening, ...frames], answer: [] },
    })),
    ...Object.entries(hostileFrames).flatMap(([name, frames]) => [
      {
        name: `${name} in a request`,
        first: clientPreface,
        opening: [...opening, ...between(requestFrames({ path }), frames)],
        answer: [],
      },
      { name: `${name} at once`, first: clientPreface, opening: [...frames, ...requestFrames({ path })], answer: [] },
    ]),
  ];
}

function between([head, ...rest]: readonly Frame[], frames: readonly Frame[]): Frame[] {
  return [...(head === undefined ? [] : [head]), ...frames, ...rest];
}

const someFrames = Object.values(hostileFrames).filter((frames) => frames.length <= 10);

const frameChanges: Readonly<Record<string, ChangeFrames>> = {
  'left out': (frames, at) => void frames.splice(at, 1),
  twice: (frames, at) => void frames.splice(at, 0, ...frames.slice(at, at + 1)),
  'a thousand times': (frames, at) => {
    const one = frames[at];
    if (one === undefined) return;
    frames.splice(at, 0, ...Array.from({ length: Math.min(1_000, 2 ** 20 / (one.payload.length + 1)) }, () => one));
  },
  'too late': (frames, at) => void frames.push(...frames.splice(at, 1)),
  'too early': (frames, at) => void frames.unshift(...frames.splice(at, 1)),
  'of another type': change((random) => ({ type: Math.floor(random() * 12) })),
  'with other flags': change((random) => ({ flags: Math.floor(random() * 256) })),
  'on another stream': change((random) => ({ stream: Math.floor(random() * 2 ** (1 + random() * 31)) })),
  'of another length': change((random) => ({ length: Math.floor(random() * 2 ** (random() * 24)) })),
  'of random content': change((random) => ({ payload: noise(Math.floor(random() * 300), random) })),
  'after a hostile one': (frames, at, random) =>
    void frames.splice(at, 0, ...(someFrames[Math.floor(random() * someFrames.length)] ?? [])),
  'with an empty one behind': (frames, at) => void frames.splice(at + 1, 0, dataFrame(Buffer.alloc(0))),
};

function change(to: (random: Random) => Partial<Frame>): ChangeFrames {
  return (frames, at, random) => {
    const one = frames[at];
    if (one !== undefined) frames[at] = { ...one, ...to(random) };
  };
}

const byteChanges: Readonly<Record<string, ChangeBytes>> = {
  'cut off': (bytes, at) => bytes.subarray(0, at),
  'one bit flipped': (bytes, at, random) => {
    const changed = Buffer.from(bytes);
    if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return changed;
  },
  'noise in between': (bytes, at, random) =>
    Buffer.concat([bytes.subarray(0, at), noise(1 + Math.floor(random() * 64), random), bytes.subarray(at)]),
  'noise from there': (bytes, at, random) => Buffer.concat([bytes.subarray(0, at), noise(2_000, random)]),
  'bytes left out': (bytes, at, random) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 16))]),
  'bytes sent twice': (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - 40))]),
};

function noise(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));
}

function pick<T>(from: readonly T[], random: Random): T {
  return from[Math.floor(random() * from.length)] as T;
}

const pieces = [2 ** 24, 2 ** 24, 4_096, 100, 9, 1];
/** Splitting further takes the sender longer than the receiver. */
const mostPieces = 200;
/** A peer that stays lets the other end look at all that it sent; one that goes may take it along. */
const ends = ['stay', 'stay', 'end', 'cut'] as const;

export interface GarbageSource {
  /** How many kinds are known ones, unchanged: the first. */
  readonly known: number;
  kind(number: number): Garbage;
}

/** What servers send to our clients. */
export function hostileServers(): GarbageSource {
  return sourceOf(knownAnswers(), answers, 1);
}

/** What clients send to our servers. @param path of the method that they call, such as `/package.Service/Method` */
export function hostileClients(path: string): GarbageSource {
  return sourceOf(knownRequests(path), requestsOf(path), 2);
}

function sourceOf(known: readonly Exchange[], valid: readonly Exchange[], side: number): GarbageSource {
  return { known: known.length, kind: (number) => garbageOf(number, known, valid, side) };
}

function garbageOf(kind: number, known: readonly Exchange[], valid: readonly Exchange[], side: number): Garbage {
  const random = seededRandom(kind * 2 + side);
  const alone = known[kind];
  if (alone !== undefined) return sent(alone, alone.name, (bytes) => bytes, 'stay', 2 ** 24);
  const base = random() < 0.7 ? pick(valid, random) : pick(known, random);
  const changed = { ...base, opening: [...base.opening], answer: [...base.answer] };
  const names = [base.name];
  for (let left = Math.floor(random() * 4); left > 0; left--) {
    const frames = changed.answer.length > 0 && random() < 0.8 ? changed.answer : changed.opening;
    const name = pick(Object.keys(frameChanges), random);
    const at = Math.floor(random() * Math.min(frames.length, 8));
    frameChanges[name]?.(frames, at, random);
    names.push(`frame ${at} ${name}`);
  }
  const isBytes = names.length === 1 || random() < 0.4;
  const name = pick(Object.keys(byteChanges), random);
  const where = random();
  if (isBytes) names.push(`${name} at ${Math.round(where * 100)} %`);
  const changeBytes = (bytes: Buffer): Buffer =>
    isBytes ? (byteChanges[name]?.(bytes, Math.floor(where * bytes.length), seededRandom(kind)) ?? bytes) : bytes;
  return sent(changed, names.join(', '), changeBytes, pick(ends, random), pick(pieces, random));
}

function sent(
  { first, opening: frames, answer: second }: Exchange,
  name: string,
  changeBytes: (bytes: Buffer) => Buffer,
  end: Garbage['end'],
  pieceBytes: number,
): Garbage {
  const encode = (frames: readonly Frame[], call: number): Buffer =>
    Buffer.concat(frames.map((frame) => encodeFrame(frame, call)));
  const isAnswer = second.length > 0;
  const opened = Buffer.concat([first, encode(frames, 1)]);
  const bytes = isAnswer ? opened : changeBytes(opened);
  return {
    ...{ name, end, opening: bytes },
    pieceBytes: Math.max(pieceBytes, Math.ceil(bytes.length / mostPieces)),
    answer: (call) => (isAnswer ? changeBytes(encode(second, call)) : Buffer.alloc(0)),
  };
}
