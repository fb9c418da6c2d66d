// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "json.h"
#include <string.h>

/// Deeper than any manifest; bounds the recursion.
#define MOST_NESTED 64

typedef struct Parser {
  const char *at, *end;
  Pool *pool;
  const char *problem;
  unsigned depth;
} Parser;

static bool refuse(Parser *parser, const char *problem) {
  parser->problem = problem;
  return false;
}

static void skipSpace(Parser *parser) {
  while (parser->at < parser->end && strchr(" \t\r\n", *parser->at) && *parser->at)
    ++parser->at;
}

static bool take(Parser *parser, char wanted) {
  skipSpace(parser);
  if (parser->at == parser->end || *parser->at != wanted)
    return false;
  ++parser->at;
  return true;
}

static bool takeWord(Parser *parser, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(parser->end - parser->at) < length || memcmp(parser->at, word, length) != 0)
    return false;
  parser->at += length;
  return true;
}

/// Reads the four digits of \uXXXX.
static bool readUnit(Parser *parser, uint32_t *unit) {
  *unit = 0;
  if (parser->end - parser->at < 4)
    return refuse(parser, "a \\u escape is too short");
  for (unsigned i = 0; i < 4; ++i) {
    char digit = *parser->at++;
    uint32_t value = digit >= '0' && digit <= '9'   ? (uint32_t)(digit - '0')
                     : digit >= 'a' && digit <= 'f' ? (uint32_t)(digit - 'a') + 10
                     : digit >= 'A' && digit <= 'F' ? (uint32_t)(digit - 'A') + 10
                                                    : 16;
    if (value == 16)
      return refuse(parser, "a \\u escape has an invalid digit");
    *unit = *unit << 4 | value;
  }
  return true;
}

/// Reads the code point of a \u escape, which may be two surrogates, and writes it as UTF-8.
static bool readEscape(Parser *parser, char **out) {
  uint32_t code, low;
  if (!readUnit(parser, &code))
    return false;
  if (code >= 0xD800 && code < 0xDC00) {
    if (!takeWord(parser, "\\u") || !readUnit(parser, &low) || low < 0xDC00 || low >= 0xE000)
      return refuse(parser, "a surrogate has no partner");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  } else if (code == 0 || (code >= 0xDC00 && code < 0xE000)) {
    return refuse(parser, "an escape is not a character of a text");
  }
  unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
  *(*out)++ = (char)(leads[more] | code >> 6 * more);
  while (more--)
    *(*out)++ = (char)(0x80 | (code >> 6 * more & 0x3F));
  return true;
}

/// Reads a string after its opening quote.
static bool readString(Parser *parser, const char **string) {
  const char *close = parser->at;
  while (close < parser->end && *close != '"')
    close += *close == '\\' ? 2 : 1;
  if (close >= parser->end)
    return refuse(parser, "a string does not end");
  // An escape is never shorter than its character.
  char *out = poolAllocate(parser->pool, (size_t)(close - parser->at) + 1);
  if (!out)
    return refuse(parser, "out of memory");
  *string = out;
  while (parser->at < close) {
    char character = *parser->at++;
    if ((unsigned char)character < 0x20)
      return refuse(parser, "a string has a control character");
    if (character != '\\') {
      *out++ = character;
      continue;
    }
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char kind = *parser->at++;
    const char *found = kind ? strchr(from, kind) : NULL;
    if (found)
      *out++ = to[found - from];
    else if (kind != 'u')
      return refuse(parser, "a string has an unknown escape");
    else if (!readEscape(parser, &out))
      return false;
  }
  ++parser->at;
  return true;
}

static bool readInteger(Parser *parser, int64_t *value) {
  bool negative = takeWord(parser, "-");
  const char *begin = parser->at;
  int64_t number = 0;
  for (; parser->at < parser->end && *parser->at >= '0' && *parser->at <= '9'; ++parser->at)
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, *parser->at - '0', &number))
      return refuse(parser, "a number is too large");
  if (parser->at == begin)
    return refuse(parser, "expected a value");
  if (parser->at < parser->end && strchr(".eE", *parser->at) && *parser->at)
    return refuse(parser, "expected an integer");
  *value = negative ? -number : number;
  return true;
}

static bool readValue(Parser *parser, Json *value);

/// Reads the elements of a list or an object after its opening bracket.
static bool readElements(Parser *parser, Json *value, char close) {
  if (++parser->depth > MOST_NESTED)
    return refuse(parser, "the nesting is too deep");
  const Json **place = &value->first;
  if (!take(parser, close)) {
    do {
      Json *element = poolAllocate(parser->pool, sizeof *element);
      if (!element)
        return refuse(parser, "out of memory");
      if (close == '}') {
        if (!take(parser, '"'))
          return refuse(parser, "expected the name of a field");
        if (!readString(parser, &element->key))
          return false;
        if (!take(parser, ':'))
          return refuse(parser, "expected a colon");
      }
      if (!readValue(parser, element))
        return false;
      *place = element;
      place = &element->next;
      ++value->count;
    } while (take(parser, ','));
    if (!take(parser, close))
      return refuse(parser, "expected a comma or the end of a list or object");
  }
  --parser->depth;
  return true;
}

static bool readValue(Parser *parser, Json *value) {
  skipSpace(parser);
  if (take(parser, '{')) {
    value->kind = JSON_OBJECT;
    return readElements(parser, value, '}');
  }
  if (take(parser, '[')) {
    value->kind = JSON_LIST;
    return readElements(parser, value, ']');
  }
  if (take(parser, '"')) {
    value->kind = JSON_STRING;
    return readString(parser, &value->string);
  }
  if (takeWord(parser, "null")) {
    value->kind = JSON_NULL;
    return true;
  }
  bool flag = takeWord(parser, "true");
  if (flag || takeWord(parser, "false")) {
    value->kind = JSON_FLAG;
    value->integer = flag;
    return true;
  }
  value->kind = JSON_INTEGER;
  return readInteger(parser, &value->integer);
}

const Json *parseJson(const char *text, size_t bytes, Pool *pool, const char **problem) {
  Parser parser = {text, text + bytes, pool, NULL, 0};
  Json *value = poolAllocate(pool, sizeof *value);
  *problem = "out of memory";
  if (!value)
    return NULL;
  if (readValue(&parser, value)) {
    skipSpace(&parser);
    if (parser.at == parser.end)
      return value;
    parser.problem = "expected the end of the document";
  }
  *problem = parser.problem;
  return NULL;
}

const Json *jsonField(const Json *object, const char *key, JsonKind kind) {
  if (!object || object->kind != JSON_OBJECT)
    return NULL;
  for (const Json *field = object->first; field; field = field->next)
    if (!strcmp(field->key, key))
      return field->kind == kind ? field : NULL;
  return NULL;
}
