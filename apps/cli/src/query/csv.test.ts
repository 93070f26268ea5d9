import { Scalar } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { csvLine } from './csv.ts';

test('a line of CSV is quoted where RFC 4180 requires it, and ends with CRLF', () => {
  expect(csvLine(['a', 'b,c', 'd"e', 'f\ng', ' h', new Scalar('3.0', '3', true)])).toBe(
    'a,"b,c","d""e","f\ng"," h",3\r\n',
  );
});

test('missing and null values are empty cells, an empty string is not', () => {
  expect(csvLine([undefined, new Scalar('null'), '', new Scalar('false')])).toBe(',,"",false\r\n');
});

test('no text is a formula to a spreadsheet, and numbers stay numbers', () => {
  const hostile = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '=1,"2"'];
  for (const text of hostile) {
    const line = csvLine([text]);
    expect(line.replace(/^"/, ''), text).toMatch(/^'/);
    expect(csvLine([new Scalar('{"$symbol":"x"}', text)])).toBe(line);
  }
  expect(csvLine([new Scalar('-1.5', '-1.5', true)])).toBe('-1.5\r\n');
});
