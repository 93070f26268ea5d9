export interface TestCount {
  readonly passed: number;
  readonly failed: number;
}

/** The plain closing line that CI reads. */
export function closingLine({ passed, failed }: TestCount): string {
  return `${passed} passed, ${failed} failed`;
}
