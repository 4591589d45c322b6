import { expect } from 'vitest';

export interface ProblemBody {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors: { field?: string; line?: number; message: string }[];
  [extension: string]: unknown;
}

/** Expects a response to be a problem document, and returns its body. */
export async function expectProblem(
  response: Response,
  expected: { status: number; code: string },
): Promise<ProblemBody> {
  const text = await response.text();
  expect(response.status, text).toBe(expected.status);
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  const body = JSON.parse(text) as ProblemBody;
  expect(body).toMatchObject({
    type: expect.stringMatching(/^(urn:|https?:)\S+$/),
    title: expect.stringMatching(/\S/),
    status: expected.status,
    detail: expect.stringMatching(/\S/),
    code: expected.code,
    errors: expect.any(Array),
  });
  expect(body.request_id).toBe(response.headers.get('x-request-id'));
  expect(body.request_id).not.toBe('');
  return body;
}
