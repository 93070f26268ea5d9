import { expect, test } from 'vitest';
import { AnswerError } from '../../api/answer-error.ts';
import { sendStop } from './send-stop.ts';

function failing(...failures: readonly unknown[]) {
  const left = [...failures];
  return async (): Promise<string> => {
    const next = left.shift();
    if (next !== undefined) throw next;
    return 'stopped';
  };
}

test('a stop is sent until the machine has answered, and each miss is told', async () => {
  const lost = [
    new TypeError('Failed to fetch'),
    new DOMException('signal timed out', 'TimeoutError'),
    new AnswerError('the machine is not connected', 503),
  ];
  const missed: unknown[] = [];
  const pauses: number[] = [];
  const answer = await sendStop({
    send: failing(...lost),
    missed: (caught) => void missed.push(caught),
    pause: async (failures) => void pauses.push(failures),
  });
  expect([answer, missed, pauses]).toEqual(['stopped', lost, [1, 2, 3]]);
});

test('a stop that the machine or the cloud refused is not repeated', async () => {
  const send = failing(new AnswerError('you may not do this', 403));
  const never = (): never => expect.unreachable('repeated');
  await expect(sendStop({ send, missed: never, pause: never })).rejects.toThrow('you may not do this');
});
