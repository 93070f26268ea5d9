import { PlatformError, type Stage } from '@platform/sdk/cloud';

/** The stages of a pipeline given as text; throws a sentence that says what was expected, found, and where. */
export function parsePipeline(text: string): Stage[] {
  let stages: unknown;
  try {
    stages = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const position = Number(/at position (\d+)/.exec(reason)?.[1] ?? text.length);
    const found = position < text.length ? around(text, position) : 'the end of the text';
    throw new PlatformError(
      'invalid_argument',

      `expected a JSON array of stages, found ${found} at character ${position + 1} (${reason}); keys and texts stand in double quotes`,
    );
  }
  if (!Array.isArray(stages))
    throw new PlatformError('invalid_argument', `expected a JSON array of stages, found ${shown(stages)}`);
  for (const [index, stage] of stages.entries()) {
    if (typeof stage !== 'object' || stage === null || Array.isArray(stage))
      throw new PlatformError(
        'invalid_argument',
        `expected an object such as {"$limit": 3} as stage ${index + 1}, found ${shown(stage)}`,
      );
  }
  return stages as Stage[];
}

const around = (text: string, position: number): string => `"${text.slice(position, position + 20)}"`;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
