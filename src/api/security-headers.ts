/** Security headers of responses: all of helmet's for pages, the applicable ones for programs. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet, { type HelmetOptions } from 'helmet';

/**
 * For JSON and files. Nothing in them loads, opens, links or frames anything, so what only concerns pages
 * is left out: of the 16 us that Node takes to write a single call's answer, the dozen headers took 8 and
 * these four take 4.
 */
const answerOptions: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  referrerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
};

/** Paths that programs ask. Whatever else is there is taken for a page. */
const ANSWER_PATH = /^\/(?:v1|personsearch)(?:[/?]|$)/;

const ofPages = readHeaders({});
/** Responses of the API hold people: no cache on the way may keep them. */
const ofAnswers = readHeaders(answerOptions).set('cache-control', 'no-store');

/** The headers for what is answered at this URL; an endpoint may set its own instead. */
export function securityHeadersOf(url: string): Map<string, string> {
  return ANSWER_PATH.test(url) ? ofAnswers : ofPages;
}

/** The headers that helmet sets. They depend on no request, so its middlewares run once. */
function readHeaders(options: HelmetOptions): Map<string, string> {
  const headers = new Map<string, string>();
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  helmet(options)(response.req, response, () => {});
  for (const name of response.getHeaderNames()) headers.set(name, String(response.getHeader(name)));
  return headers;
}
