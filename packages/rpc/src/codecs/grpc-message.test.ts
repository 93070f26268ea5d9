import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeGrpcMessage } from './grpc-message.ts';

test('any text survives as a gRPC status message, and travels as printable ASCII', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = encodeGrpcMessage(text);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(encoded)).toBe(text);
    }),
  );
});

test('a status message stays readable to clients that decode only what must be encoded', () => {
  const text = 'expected a, b; found c: see /d?e=f & "g"';
  expect(encodeGrpcMessage(text)).toBe(text);
  expect(encodeGrpcMessage('100 % – two\nlines')).toBe('100 %25 %E2%80%93 two%0Alines');
});
