/** Describes served methods for OpenAPI 3.1. Loaded on demand, because serving does not need it. */
export { type DescribedCalls, describeCalls } from './openapi/describe-calls.ts';
