import { expect, test } from 'vitest';
import { problemOf } from './triggers-command.ts';

const warning = { severity: 'warning', path: 'p', message: 'unspecified matches nothing' };
const error = { severity: 'error', path: 'p', message: 'no such component' };

test.each([
  [[warning], ['', 'nobody has an address'], 'nobody has an address'],
  [[warning, error], ['nobody has an address'], 'no such component'],
  [[warning], [''], 'unspecified matches nothing'],
  [[], [], null],
])(
  'D45 of the problems %j and the reasons of targets %j, the list shows what makes the state: %s',
  (problems, reasons, shown) => {
    const notifications = reasons.map((reason) => ({ reason }));
    expect(problemOf({ problems, notifications } as never)).toBe(shown);
  },
);
