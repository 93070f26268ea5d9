/** Frames that no honest peer sends: what is forbidden, floods, and what is allowed but costs its receiver more than its sender. */
import {
  clientPreface,
  dataFrame,
  type Frame,
  flags,
  frameTypes,
  headersFrame,
  hpackNumber,
  settingsFrame,
  uint32,
} from './frames.ts';

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const none = Buffer.alloc(0);
const frame = (type: number, payload: Uint8Array, more: Partial<Frame> = {}): Frame => ({
  ...{ type, flags: 0, stream: 0, payload },
  ...more,
});
const times = (count: number, one: Frame): Frame[] => Array.from({ length: count }, () => one);
const block = (payload: Uint8Array, more: Partial<Frame> = {}): Frame => headersFrame([], { payload, ...more });
const mostWindow = 2 ** 31 - 1;
const setting = { tableSize: 1, push: 2, streams: 3, window: 4, frameSize: 5, listSize: 6 } as const;
const { data, headers, priority, reset, settings, pushPromise, ping, goaway, windowUpdate, continuation } = frameTypes;

/** Adds a header of 4,000 bytes to the table, and then refers to it; each reference takes one byte. */
const bomb = Buffer.concat([
  bytes(0x40, 1, 0x61, ...hpackNumber(4_000, 7)),
  Buffer.alloc(4_000, 0x62),
  Buffer.alloc(12_000, 0x80 | 62),
]);

/** By name. Of either side; `call` is a stream that is open. */
export const hostileFrames: Readonly<Record<string, readonly Frame[]>> = {
  'a flood of PING': times(5_000, frame(ping, Buffer.alloc(8))),
  'a flood of PING answers': times(5_000, frame(ping, Buffer.alloc(8), { flags: flags.ack })),
  'a flood of SETTINGS': times(5_000, settingsFrame([setting.window, 65_535])),
  'a flood of SETTINGS answers': times(5_000, frame(settings, none, { flags: flags.ack })),
  'a flood of WINDOW_UPDATE': times(5_000, frame(windowUpdate, uint32(1))),
  'a flood of WINDOW_UPDATE of the call': times(5_000, frame(windowUpdate, uint32(1), { stream: 'call' })),
  'a flood of PRIORITY': times(5_000, frame(priority, bytes(0, 0, 0, 0, 1), { stream: 'call' })),
  'a flood of RST_STREAM': times(5_000, frame(reset, uint32(8), { stream: 'call' })),
  'a flood of empty DATA': times(5_000, dataFrame(none)),
  'a flood of padded DATA': times(
    2_000,
    dataFrame(Buffer.concat([bytes(255), Buffer.alloc(255)]), { flags: flags.padded }),
  ),
  'a flood of unknown frames': times(5_000, frame(99, Buffer.alloc(8))),
  'a flood of GOAWAY': times(5_000, frame(goaway, Buffer.concat([uint32(mostWindow), uint32(0)]))),
  'headers continued without end': [
    headersFrame([['a', 'b']], { flags: 0 }),
    ...times(5_000, frame(continuation, bytes(0, 1, 0x61, 1, 0x62), { stream: 'call' })),
  ],
  'headers continued by nothing': [
    headersFrame([['a', 'b']], { flags: 0 }),
    ...times(5_000, frame(continuation, none, { stream: 'call' })),
  ],
  'headers interrupted by PING': [headersFrame([['a', 'b']], { flags: 0 }), frame(ping, Buffer.alloc(8))],
  'a continuation of nothing': [frame(continuation, bytes(0x82), { stream: 'call' })],
  'references to a long header': [block(bomb)],
  'a table of 1 GiB': [settingsFrame([setting.tableSize, 2 ** 30]), block(bytes(...hpackNumber(2 ** 30, 5, 0x20)))],
  'a table that grows beyond what was allowed': [block(bytes(...hpackNumber(2 ** 31, 5, 0x20)))],
  'a reference to no header': [block(bytes(0xff, 0xff, 0xff, 0x7f))],
  'a reference to header 0': [block(bytes(0x80))],
  'a number without end in headers': [block(Buffer.concat([bytes(0xff), Buffer.alloc(100, 0xff)]))],
  'text of the wrong Huffman code': [block(bytes(0, 0x84, 0xff, 0xff, 0xff, 0xff, 1, 0x61))],
  'a header longer than its block': [block(bytes(0, 1, 0x61, 0x7f, 0xff, 0x7f))],
  'a header name in capitals': [headersFrame([['Upper', 'x']])],
  'an empty header name': [headersFrame([['', 'x']])],
  'line breaks in a header': [headersFrame([['a', 'x\r\ngrpc-status: 0']])],
  'bytes above 127 in a header': [headersFrame([['a', '\xff\xfe\x80']])],
  'headers of a connection': [
    headersFrame([
      ['connection', 'close'],
      ['transfer-encoding', 'chunked'],
      ['upgrade', 'h2c'],
    ]),
  ],
  'a thousand headers': [headersFrame(Array.from({ length: 1_000 }, (_, at) => [`h${at}`, 'x']))],
  '16 KiB of cookies': [headersFrame(Array.from({ length: 160 }, () => ['cookie', 'x'.repeat(90)]))],
  'an unknown pseudo header': [headersFrame([[':nothing', 'x']])],
  'a pseudo header after others': [
    headersFrame([
      ['a', 'b'],
      [':status', '200'],
    ]),
  ],
  'more padding than payload': [dataFrame(bytes(200, 1, 2), { flags: flags.padded })],
  'headers with more padding than payload': [block(bytes(200, 0x82), { flags: flags.endHeaders | flags.padded })],
  'a priority that depends on itself': [frame(priority, bytes(0, 0, 0, 1, 1), { stream: 1 })],
  'a PING of 7 bytes': [frame(ping, Buffer.alloc(7))],
  'a PING on a stream': [frame(ping, Buffer.alloc(8), { stream: 'call' })],
  'SETTINGS of 7 bytes': [frame(settings, Buffer.alloc(7))],
  'SETTINGS on a stream': [frame(settings, none, { stream: 'call' })],
  'an answer to SETTINGS with content': [frame(settings, Buffer.alloc(6), { flags: flags.ack })],
  'a thousand settings': [settingsFrame(...Array.from({ length: 1_000 }, (_, at) => [at % 256, at] as const))],
  'windows of zero': [settingsFrame([setting.window, 0])],
  'windows above the limit': [settingsFrame([setting.window, 2 ** 32 - 1])],
  'the largest windows': [
    settingsFrame([setting.window, mostWindow]),
    frame(windowUpdate, uint32(mostWindow - 65_535)),
  ],
  'windows that change to and fro': Array.from({ length: 1_000 }, (_, at) =>
    settingsFrame([setting.window, at % 2 === 0 ? 0 : mostWindow]),
  ),
  'frames of no size': [settingsFrame([setting.frameSize, 0])],
  'frames of the largest size': [settingsFrame([setting.frameSize, 2 ** 24 - 1])],
  'no streams': [settingsFrame([setting.streams, 0])],
  'no headers': [settingsFrame([setting.listSize, 0])],
  'no table': [settingsFrame([setting.tableSize, 0])],
  'push that is neither on nor off': [settingsFrame([setting.push, 2])],
  'a window update of zero': [frame(windowUpdate, uint32(0))],
  'a window update of zero for the call': [frame(windowUpdate, uint32(0), { stream: 'call' })],
  'a window that overflows': times(2, frame(windowUpdate, uint32(mostWindow))),
  'a window of the call that overflows': times(2, frame(windowUpdate, uint32(mostWindow), { stream: 'call' })),
  'a window update of a stream that nobody opened': [frame(windowUpdate, uint32(1), { stream: 4_001 })],
  'a reset of stream 0': [frame(reset, uint32(8))],
  'a reset of a stream that nobody opened': [frame(reset, uint32(8), { stream: 4_001 })],
  'a reset of 3 bytes': [frame(reset, Buffer.alloc(3), { stream: 'call' })],
  'DATA on stream 0': [dataFrame(bytes(1), { stream: 0 })],
  'DATA on a stream that nobody opened': [dataFrame(bytes(1), { stream: 4_001 })],
  'DATA on a stream of the other side': [dataFrame(bytes(1), { stream: 2 })],
  'headers on stream 0': [headersFrame([[':status', '200']], { stream: 0 })],
  'headers on a stream of the other side': [headersFrame([[':status', '200']], { stream: 2 })],
  'headers on the last stream': [headersFrame([[':status', '200']], { stream: mostWindow })],
  'a pushed answer': [
    frame(pushPromise, Buffer.concat([uint32(2), bytes(0x82)]), { flags: flags.endHeaders, stream: 'call' }),
  ],
  'a pushed answer on stream 0': [
    frame(pushPromise, Buffer.concat([uint32(2), bytes(0x82)]), { flags: flags.endHeaders }),
  ],
  'a frame of 16 MiB that does not come': [dataFrame(none, { length: 2 ** 24 - 1 })],
  'SETTINGS of 16 MiB that do not come': [frame(settings, none, { length: 2 ** 24 - 1 })],
  'DATA above the limit of a frame': [dataFrame(Buffer.alloc(20_000))],
  'the preface again': [{ type: 0, flags: 0, stream: 0, payload: clientPreface }],
  ...Object.fromEntries(
    [0, 1, 2, 7, 8, 11, 13, 255].map((code) => [
      `GOAWAY ${code}`,
      [frame(goaway, Buffer.concat([uint32(0), uint32(code), Buffer.from('too_many_pings')]))],
    ]),
  ),
  ...Object.fromEntries(
    [0, 1, 2, 5, 7, 8, 11, 255].map((code) => [`RST_STREAM ${code}`, [frame(reset, uint32(code), { stream: 'call' })]]),
  ),
  'GOAWAY of 3 bytes': [frame(goaway, Buffer.alloc(3))],
  'GOAWAY with 16 KiB of text': [frame(goaway, Buffer.concat([uint32(0), uint32(0), Buffer.alloc(16_000, 0x78)]))],
  'DATA after the end': [dataFrame(none, { flags: flags.endStream }), dataFrame(bytes(0, 0, 0, 0, 0))],
  'frames of every type': Array.from({ length: 256 }, (_, type) => frame(type, Buffer.alloc(8), { stream: type % 3 })),
  'frames with every flag': Array.from({ length: 10 }, (_, type) =>
    frame(type, Buffer.alloc(8), { flags: 255, stream: 'call' }),
  ),
  'unused headers': [frame(headers, none, { stream: 'call' })],
  'unused data': [frame(data, none, { stream: 'call' })],
};
