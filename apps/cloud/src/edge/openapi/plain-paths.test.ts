import { expect, test } from 'vitest';
import { readQueryRequest } from '../query-request.ts';
import { apiRoutes } from '../sign-in/api-routes.ts';
import { plainPaths } from './plain-paths.ts';

test('every JSON route for programs is described', () => {
  const routes = Object.keys(apiRoutes({ identity: { deps: {} } } as never));
  expect(routes.length).toBeGreaterThan(3);
  const paths = plainPaths();
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item).map((verb) => `${verb.toUpperCase()} ${path}`),
  );
  expect(routes.filter((route) => !described.includes(route))).toEqual([]);
});

test('the body of a query has the fields that the route reads', () => {
  const { post } = plainPaths()['/api/query'] as { post: { requestBody: { content: Record<string, object> } } };
  const { schema } = post.requestBody.content['application/json'] as { schema: { properties: object } };
  expect(() => readQueryRequest('{"no_such_field": 1}')).toThrow(
    `one of the fields ${Object.keys(schema.properties).join(', ')}`,
  );
});
