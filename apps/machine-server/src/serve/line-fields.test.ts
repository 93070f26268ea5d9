import { zapField } from '@platform/base';
import { expect, test } from 'vitest';
import { lineFields } from './line-fields.ts';

test('empty fields are omitted, including the empty stack that the public SDK for Python sends', () => {
  const fields = [zapField('pin', 7), zapField('note', ''), zapField('cause', null), { open: false }];
  const none = 'exc_info: None, exc_text: None, stack_info: None';
  for (const stack of ['', ' \n', none])
    expect(lineFields(fields as never, stack, 10)).toEqual({ pin: 7, open: false });
  const raised = "exc_info: (<class 'OSError'>, OSError(5), None), exc_text: None, stack_info: None";
  expect(lineFields([], raised, 20)).toEqual({ stack: raised.slice(0, 20) });
});
