import { expect, test } from 'vitest';
import { withHints } from './with-hints.ts';

const refused = 'the host administrator can allow it: platform admin webhooks allow o 127.0.0.1:1880';
const works = 'the host administrator can allow it: node tools/run.js admin webhooks allow o 127.0.0.1:1880';
const style = { json: false, quiet: false, colours: false, command: 'node tools/run.js' };

test('messages of the cloud in tables name the command that works here, also in lists; what people named stays as it is', () => {
  const row = {
    name: 'platform admin x',
    target: refused,
    answer: refused,
    problems: [{ path: 'p', message: refused }],
  };
  expect(withHints({ style }, row)).toEqual({
    ...{ name: 'platform admin x', target: refused },
    ...{ answer: works, problems: [{ path: 'p', message: works }] },
  });
});

test('JSON has messages as the cloud sent them', () => {
  expect(withHints({ style: { ...style, json: true } }, { answer: refused })).toEqual({ answer: refused });
});
