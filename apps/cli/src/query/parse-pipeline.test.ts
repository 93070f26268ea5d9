import { expect, test } from 'vitest';
import { parsePipeline } from './parse-pipeline.ts';

test('a pipeline that is no JSON array of objects is refused with what was expected, found, and where', () => {
  expect(parsePipeline('[{"$limit":3}]')).toEqual([{ $limit: 3 }]);
  const cases: [string, RegExp][] = [
    ["[{'$limit':3}]", /^expected a JSON array of stages, found "'\$limit':3}]" at character 3 /],
    ['[{"$limit":3}', /^expected a JSON array of stages, found the end of the text at character 14 /],
    ['[{"$limit":3}] x', /found "x" at character 16 /],
    ['{"$limit":3}', /^expected a JSON array of stages, found \{"\$limit":3\}$/],
    ['[3]', /^expected an object such as .* as stage 1, found 3$/],
    ['[{}, []]', /as stage 2, found \[\]$/],
  ];
  for (const [text, message] of cases) expect(() => parsePipeline(text), text).toThrow(message);
});
