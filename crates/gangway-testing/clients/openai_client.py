"""Uses Gangway's /v1 through OpenAI's own Python client, as any program would.

Usage: openai_client.py BASE_URL KEY MODEL fake|real

`fake` expects the upstream that tests/it/v1/clients.rs sets up, `real` a model of any quality. Prints one line when all
is well; otherwise names the step that was not and ends with 1.
"""

import asyncio
import json
import sys
import traceback

import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

BASE, KEY, MODEL, KIND = sys.argv[1:5]
# A client that tries again by itself would hide the first answer.
OPTIONS = {"base_url": BASE, "max_retries": 0, "timeout": 60}
client = openai.OpenAI(api_key=KEY, **OPTIONS)
chat = client.chat.completions

WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tells the weather in a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "maxLength": 40}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
}


def user(text):
    return [{"role": "user", "content": text}]


def ask(text, **more):
    """The same words in every step of a kind, so that answers can be compared."""
    return {"model": MODEL, "messages": user(text), "temperature": 0, "max_tokens": 60, **more}


def refuses(kind, call):
    """The error that a call must end with."""
    try:
        call()
    except kind as error:
        # Subclasses are other errors.
        assert type(error) is kind, type(error)
        return error
    raise AssertionError(f"no {kind.__name__}")


def models_are_listed_and_found():
    names = [model.id for model in client.models.list()]
    assert MODEL in names, names
    # The name holds a slash, which the client writes in its own way.
    assert client.models.retrieve(MODEL).id == MODEL
    refuses(openai.NotFoundError, lambda: client.models.retrieve("nobody/none"))


def a_chat_is_answered():
    answer = chat.create(**ask("What is the capital of France? Answer with the name only."))
    assert isinstance(answer, ChatCompletion)
    assert "Paris" in answer.choices[0].message.content, answer
    assert answer.choices[0].finish_reason in ("stop", "length")
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    return answer.choices[0].message.content


def a_streamed_chat_has_the_same_text():
    whole = a_chat_is_answered()
    wish = ask("What is the capital of France? Answer with the name only.")
    text, usage, reasons = "", None, []
    for chunk in chat.create(**wish, stream=True, stream_options={"include_usage": True}):
        assert isinstance(chunk, ChatCompletionChunk)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    assert text == whole, (text, whole)
    assert usage.completion_tokens > 0 and len(reasons) == 1, (usage, reasons)


def the_clients_own_stream_helper_ends_with_the_whole_answer():
    whole = a_chat_is_answered()
    with chat.stream(**ask("What is the capital of France? Answer with the name only.")) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        final = stream.get_final_completion()
    assert "".join(deltas) == final.choices[0].message.content == whole


def the_asynchronous_client_works_too():
    async def run():
        async with openai.AsyncOpenAI(api_key=KEY, **OPTIONS) as other:
            wish = ask("What is the capital of France? Answer with the name only.", stream=True)
            stream = await other.chat.completions.create(**wish)
            return "".join([c.choices[0].delta.content or "" async for c in stream if c.choices])

    assert asyncio.run(run()) == a_chat_is_answered()


def tool_wish():
    return ask("How warm is it in Paris?", tools=[WEATHER], tool_choice="required")


def check_call(call):
    assert call.type == "function" and call.function.name == "weather" and call.id, call
    assert isinstance(json.loads(call.function.arguments)["city"], str), call


def a_tool_is_called():
    choice = chat.create(**tool_wish()).choices[0]
    assert choice.finish_reason == "tool_calls", choice
    check_call(choice.message.tool_calls[0])
    return choice.message


def a_tool_is_called_in_a_stream():
    arguments, names, reason = {}, {}, None
    for chunk in chat.create(**tool_wish(), stream=True):
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            for call in choice.delta.tool_calls or []:
                names.setdefault(call.index, call.function.name)
                arguments[call.index] = arguments.get(call.index, "") + call.function.arguments
    # A model may call more than once.
    assert (set(names.values()), reason) == ({"weather"}, "tool_calls"), (names, reason)
    assert all("city" in json.loads(text) for text in arguments.values()), arguments
    with chat.stream(**tool_wish()) as stream:
        check_call(stream.get_final_completion().choices[0].message.tool_calls[0])


def the_tools_answer_goes_back():
    message = a_tool_is_called()
    told = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "21 degrees, sunny"}
    wish = tool_wish() | {"tool_choice": "auto"}
    # The client's own object goes back as it came, and as the dictionary that it turns into.
    for said in (message, message.model_dump()):
        wish["messages"] = user("How warm is it in Paris?") + [said, told]
        answer = chat.create(**wish).choices[0].message
        assert answer.content or answer.tool_calls, answer
        assert KIND == "real" or "21 degrees" in answer.content, answer


def a_wrong_key_is_an_authentication_error():
    stranger = openai.OpenAI(api_key="sk-wrong", **OPTIONS)
    error = refuses(openai.AuthenticationError, lambda: list(stranger.models.list()))
    assert error.status_code == 401 and error.code == "invalid_key", error
    assert "sk-wrong" not in str(error), error


def a_bad_request_says_what_is_wrong():
    error = refuses(openai.BadRequestError, lambda: chat.create(**ask("hi") | {"temperature": 9}))
    assert "`temperature` must be between 0 and 2" in error.message, error
    assert error.type == "invalid_request_error", error
    error = refuses(openai.BadRequestError, lambda: chat.create(**ask("hi", n=3, stream=True)))
    assert "`n` must be 1" in error.message, error
    # What Gangway does not know is passed over.
    assert chat.create(**ask("hi", extra_body={"top_k": 4}, user="me", logit_bias={})).choices


class City(BaseModel):
    name: str


def an_answer_is_held_to_a_type():
    wish = ask("Name the capital of France as JSON.", response_format=City)
    assert isinstance(chat.parse(**wish).choices[0].message.parsed, City)


def a_rate_limit_is_one_with_the_wait():
    for stream in (False, True):
        error = refuses(openai.RateLimitError, lambda: chat.create(**ask("too many", stream=stream)))
        assert "slow down" in error.message, error
        assert error.response.headers["retry-after"] == "9", error.response.headers


def a_failure_of_the_model_is_one_of_the_server():
    refuses(openai.InternalServerError, lambda: chat.create(**ask("break")))


def an_error_in_the_middle_of_a_stream_is_raised_after_the_text():
    heard = []

    def read():
        for chunk in chat.create(**ask("stop in the middle", stream=True)):
            heard.extend(choice.delta.content for choice in chunk.choices)

    error = refuses(openai.APIError, read)
    assert heard == ["Half an"], heard
    assert "the cat sat on the GPU" in error.message, error


STEPS = [
    models_are_listed_and_found,
    a_chat_is_answered,
    a_streamed_chat_has_the_same_text,
    the_clients_own_stream_helper_ends_with_the_whole_answer,
    the_asynchronous_client_works_too,
    a_tool_is_called,
    a_tool_is_called_in_a_stream,
    the_tools_answer_goes_back,
    a_wrong_key_is_an_authentication_error,
    a_bad_request_says_what_is_wrong,
    an_answer_is_held_to_a_type,
]
# A real model does not fail on demand.
if KIND == "fake":
    STEPS += [
        a_rate_limit_is_one_with_the_wait,
        a_failure_of_the_model_is_one_of_the_server,
        an_error_in_the_middle_of_a_stream_is_raised_after_the_text,
    ]

failed = 0
for step in STEPS:
    try:
        step()
    except Exception:
        failed += 1
        print(f"failed: {step.__name__.replace('_', ' ')}\n{traceback.format_exc()}", file=sys.stderr)
print(f"openai {openai.__version__}, {KIND}: {len(STEPS) - failed} passed, {failed} failed")
sys.exit(1 if failed else 0)
