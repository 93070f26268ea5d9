import fc from 'fast-check';
import { expect, test } from 'vitest';
import { controlPayload, FrameReader, frameHead, frameKinds, readControl, type ToEngine } from './frames.ts';

test('frames are read whole, wherever what was written is cut', () => {
  const frame = fc.record({
    kind: fc.nat(255),
    peer: fc.nat(0xffff_ffff),
    payload: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), fc.array(fc.integer({ min: 1, max: 40 })), (frames, sizes) => {
      const bytes = Buffer.concat(
        frames.flatMap(({ kind, peer, payload }) => [frameHead(kind, peer, payload.length), payload]),
      );
      const reader = new FrameReader();
      const read = [];
      for (let at = 0, piece = 0; at < bytes.length; piece++) {
        const end = at + (sizes[piece] ?? bytes.length);
        read.push(...reader.read(bytes.subarray(at, end)));
        at = end;
      }
      expect(read).toEqual(frames);
    }),
  );
});

test('what is too long for a frame, or too short, is refused before it is kept', () => {
  for (const length of [0, 4, (1 << 20) + 1, 0xffff_ffff]) {
    const bytes = frameHead(frameKinds.control, 1, 0);
    bytes.writeUInt32BE(length);
    expect(() => [...new FrameReader().read(bytes)]).toThrow(`found ${length}`);
  }
});

test('a message of control is JSON', () => {
  const message: ToEngine = { type: 'candidate', candidate: { candidate: 'candidate:1 …', mid: '0' } };
  expect(readControl(controlPayload(message))).toEqual(message);
  expect(() => readControl(Buffer.from('{"type":'))).toThrow(SyntaxError);
});
