import { expect, test } from 'vitest';
import { redactTokens } from './redact-tokens.ts';

const token = 'q7Wk3_0fQz-ZtB4n9YxLr2VdJm8sHcTeUaPg5oKiN1E';
const mail = `To set it, open this link:\n\nhttps://fleet.example.com/sign-in/reset?token=${token}\n`;

test('tokens of a mail quoted by a server are removed, whether whole, encoded or broken across lines', () => {
  for (const [answer, shown] of [
    ['554 5.7.1 rejected', '554 5.7.1 rejected'],
    [
      `554 link https://fleet.example.com/sign-in/reset?token=${token} is blocked`,
      '554 link https://fleet.example.com/sign-in/reset?token=… is blocked',
    ],
    [`550 found "token=3D${token.slice(0, 20)}="`, '550 found "token=3D…="'],
    [`550 ${token} and ${token.slice(20)}`, '550 … and …'],
  ] as const)
    expect(redactTokens(answer, mail)).toBe(shown);
});
