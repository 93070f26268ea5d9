/** Describes served methods for OpenAPI 3.1. Loaded on demand: nothing of it is needed to serve. */
export { type DescribedCalls, describeCalls } from './openapi/describe-calls.ts';
