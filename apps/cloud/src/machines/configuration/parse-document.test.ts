import { create, toBinary } from '@bufbuild/protobuf';
import { GetRobotPartResponseSchema } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { parseDocument } from './parse-document.ts';

const clientsTakeBytes = 4 * 1024 * 1024;

/** The size of a GetRobotPart answer with this configuration. */
function answerBytes(text: string): number {
  const part = { robotConfig: JSON.parse(text), robotConfigJson: text };
  return toBinary(GetRobotPartResponseSchema, create(GetRobotPartResponseSchema, { part, configJson: text })).length;
}

test.each([
  ['short texts', (count: number) => `{"note":[${'"twenty characters___",'.repeat(count)}1]}`, 90_000],
  ['one long text', (count: number) => `{"note":"${'x'.repeat(count)}"}`, 2_000_000],
])('D7 a configuration of %s is saved up to what clients can read, and no further', (_what, textOf, most) => {
  let fits = 0;
  for (let over = most; over - fits > 1_000; ) {
    const count = Math.floor((fits + over) / 2);
    let isRefused = false;
    try {
      parseDocument(textOf(count), 'p');
    } catch (caught) {
      expect(String(caught)).toContain('messages of public clients');
      isRefused = true;
    }
    if (isRefused) over = count;
    else fits = count;
  }
  const largest = answerBytes(textOf(fits));
  expect(largest).toBeLessThan(clientsTakeBytes);
  expect(largest).toBeGreaterThan(clientsTakeBytes - 128 * 1024);
});

test('D48 a configuration of too many elements is refused before it is parsed', () => {
  const listed = (count: number): string => `{"note":[${'1,'.repeat(count)}1]`;
  expect(() => parseDocument(listed(90_000), 'p')).toThrow('expected JSON');
  expect(() => parseDocument(listed(100_000), 'p')).toThrow(
    /^configuration of part p: expected at most 200000 fields and elements .* in "note"$/,
  );
});
